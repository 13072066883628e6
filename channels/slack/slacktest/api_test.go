package slacktest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

// call calls a method without a library and returns the answer.
func call(t *testing.T, s *slacktest.Server, method, token, contentType, body string) (map[string]any, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.APIURL()+method, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", contentType)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	var answer map[string]any
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	return answer, response.Header
}

const (
	form    = "application/x-www-form-urlencoded"
	jsonned = "application/json; charset=utf-8"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	for _, c := range []struct{ method, token, body, want string }{
		{"auth.test", slacktest.BotToken, "", ""},
		{"auth.test", "", "token=" + slacktest.BotToken, ""},
		{"auth.test", "", "", "not_authed"},
		{"auth.test", "xoxb-another", "", "invalid_auth"},
		{"auth.test", slacktest.AppToken, "", "not_allowed_token_type"},
		{"apps.connections.open", slacktest.AppToken, "", ""},
		{"apps.connections.open", slacktest.BotToken, "", "not_allowed_token_type"},
		{"api.test", "", "", ""},
		{"chat.shout", slacktest.BotToken, "", "unknown_method"},
	} {
		answer, header := call(t, s, c.method, c.token, form, c.body)
		require.Equal(t, c.want == "", answer["ok"], c)
		if c.want != "" {
			require.Equal(t, c.want, answer["error"], c)
		}
		require.Equal(t, strings.Join(slacktest.AllScopes, ","), header.Get("X-OAuth-Scopes"))
	}
	answer, _ := call(t, s, "auth.test", slacktest.BotToken, jsonned, "{}")
	require.Equal(t, slacktest.Team, answer["team_id"])
	require.Equal(t, slacktest.BotUser, answer["user_id"])
	require.Equal(t, slacktest.Bot, answer["bot_id"])
	require.Len(t, s.Calls("auth.test"), 6)
}

func TestArgumentsMayBeJSON(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	answer, _ := call(t, s, "chat.postMessage", slacktest.BotToken, jsonned,
		`{"channel":"C0GENERAL","text":"hi","mrkdwn":false,"metadata":{"event_type":"reply","event_payload":{"id":1}},"blocks":[{"type":"divider"}]}`)
	require.Equal(t, true, answer["ok"], answer)
	m := s.Message(slacktest.General, answer["ts"].(string))
	require.Equal(t, "reply", m.Metadata.EventType)
	require.Equal(t, "false", m.Args["mrkdwn"])
	require.Contains(t, string(m.Blocks), `"block_id"`)
	answer, _ = call(t, s, "chat.postMessage", slacktest.BotToken, jsonned, `{`)
	require.Equal(t, "invalid_json", answer["error"])
}

func TestMethodsNeedScopes(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t, slacktest.Scopes("chat:write", "channels:history", "channels:read"))
	api := client(s)
	said := s.Say(slacktest.Ana, slacktest.Secret, "hi")
	for want, try := range map[string]func() error{
		"": func() error {
			_, _, err := api.PostMessage(slacktest.Secret, slack.MsgOptionText("hi", false))
			return err
		},
		"reactions:write": func() error { return api.AddReaction("eyes", slack.NewRefToMessage(slacktest.Secret, said.TS)) },
		"assistant:write": func() error {
			return api.SetAssistantThreadsTitle(slack.AssistantThreadsSetTitleParameters{ChannelID: slacktest.Secret, ThreadTS: said.TS, Title: "…"})
		},
		"users:read": func() error { _, err := api.GetUserInfo(slacktest.Ana); return err },
		"groups:read": func() error {
			_, _, err := api.GetConversations(&slack.GetConversationsParameters{Types: []string{"public_channel", "private_channel"}})
			return err
		},
		"groups:history": func() error {
			_, err := api.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: slacktest.Secret})
			return err
		},
		"im:history": func() error {
			_, err := api.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: slacktest.DM})
			return err
		},
	} {
		err := try()
		if want == "" {
			require.NoError(t, err)
			continue
		}
		var problem slack.SlackErrorResponse
		require.ErrorAs(t, err, &problem)
		require.Equal(t, "missing_scope", problem.Err)
		require.Equal(t, want, problem.Needed)
		require.Equal(t, "chat:write,channels:history,channels:read", problem.Provided)
	}
	status := slack.AssistantThreadsSetStatusParameters{ChannelID: slacktest.Secret, ThreadTS: said.TS, Status: "…"}
	require.NoError(t, api.SetAssistantThreadsStatus(status), "chat:write is enough")
	s.SetScopes("assistant:write")
	require.NoError(t, api.SetAssistantThreadsStatus(status))
	s.SetScopes("users:read")
	require.EqualError(t, api.SetAssistantThreadsStatus(status), "missing_scope")
	s.SetScopes(slacktest.AllScopes...)
	_, err := api.GetUserInfo(slacktest.Ana)
	require.NoError(t, err)
}

func TestPeopleAndConversations(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	api := client(s)
	ana, err := api.GetUserInfo(slacktest.Ana)
	require.NoError(t, err)
	require.Equal(t, "Europe/Berlin", ana.TZ)
	require.Equal(t, 7200, ana.TZOffset)
	require.Equal(t, "ana", ana.Profile.DisplayName)
	_, err = api.GetUserInfo("U0NOBODY")
	require.EqualError(t, err, "user_not_found")
	users, err := api.GetUsers(slack.GetUsersOptionLimit(1))
	require.NoError(t, err)
	require.Len(t, users, 3, "over three pages")

	info, err := api.GetConversationInfo(&slack.GetConversationInfoInput{ChannelID: slacktest.DM})
	require.NoError(t, err)
	require.True(t, info.IsIM)
	require.Equal(t, slacktest.Ana, info.User)

	other := s.AddChannel(slacktest.Conversation{Name: "other", Kind: slacktest.Public, Members: []string{slacktest.Ana}})
	hidden := s.AddChannel(slacktest.Conversation{Name: "hidden", Kind: slacktest.Private, Members: []string{slacktest.Ana}})
	_, err = api.GetConversationInfo(&slack.GetConversationInfoInput{ChannelID: hidden})
	require.EqualError(t, err, "channel_not_found")
	mine, _, err := api.GetConversationsForUser(&slack.GetConversationsForUserParameters{Types: []string{"public_channel", "private_channel", "im"}})
	require.NoError(t, err)
	require.Len(t, mine, 3)
	all, err := api.GetAllConversations(slack.GetConversationsOptionLimit(1))
	require.NoError(t, err)
	require.Len(t, all, 2, "the public ones, over two pages")
	joined, _, _, err := api.JoinConversation(other)
	require.NoError(t, err)
	require.True(t, joined.IsMember)
	members, _, err := api.GetUsersInConversation(&slack.GetUsersInConversationParameters{ChannelID: other})
	require.NoError(t, err)
	require.Equal(t, []string{slacktest.Ana, slacktest.BotUser}, members)

	dm, _, already, err := api.OpenConversation(&slack.OpenConversationParameters{Users: []string{slacktest.Ben}})
	require.NoError(t, err)
	require.False(t, already)
	again, _, already, err := api.OpenConversation(&slack.OpenConversationParameters{Users: []string{slacktest.Ben}})
	require.NoError(t, err)
	require.True(t, already)
	require.Equal(t, dm.ID, again.ID)
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Await(ctx, func() bool { return false }), context.Canceled)
	require.NoError(t, s.Await(ctx, func() bool { return true }))
}
