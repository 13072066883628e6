package slack_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// The channels and people of the tests besides those of every server.
const (
	opsID     = "C0OPS"  // with Ana
	elseID    = "C0ELSE" // where the bot is not
	oldID     = "C0OLD"  // archived, with Ana
	closedID  = "G0CLOSED"
	closedAlo = "G0ALONE" // private, not with Ana
	goneID    = "U0GONE"
	helperID  = "U0HELPER"
)

// reaching are a server with some more channels and people, and a channel on it.
func reachingIn(t *testing.T, o slack.Options, more ...slacktest.Option) *sending {
	t.Helper()
	s := sendingTo(t, o, more...)
	with := []string{slacktest.BotUser, slacktest.Ana}
	for _, c := range []slacktest.Conversation{
		{ID: opsID, Name: "ops", Kind: slacktest.Public, Members: with},
		{ID: elseID, Name: "elsewhere", Kind: slacktest.Public, Members: []string{slacktest.Ana}},
		{ID: oldID, Name: "old", Kind: slacktest.Public, Members: with, Archived: true},
		{ID: closedID, Name: "closed", Kind: slacktest.Private, Members: with},
		{ID: closedAlo, Name: "alone", Kind: slacktest.Private, Members: []string{slacktest.BotUser, slacktest.Ben}},
	} {
		s.AddChannel(c)
	}
	s.AddUser(slacktest.User{ID: goneID, Name: "gone", RealName: "Gone Long", Deleted: true})
	s.AddUser(slacktest.User{ID: helperID, Name: "helper", RealName: "Helper", Bot: true})
	return s
}

var everybody = slack.Options{AllowUsers: []string{"*"}, AllowChannels: []string{"*"}}

func TestResolve(t *testing.T) {
	t.Parallel()
	tests := []struct{ to, want string }{
		{"#ops", opsID},
		{"ops", opsID},
		{" #OPS ", opsID},
		{opsID, opsID},
		{"#" + opsID, opsID},
		{"<#" + opsID + ">", opsID},
		{"<#" + opsID + "|ops>", opsID},
		{slacktest.Team + "/" + opsID, opsID},
		{"#closed", closedID},
		{"@ana", slacktest.DM},
		{"@Ana Souza", slacktest.DM},
		{slacktest.Ana, slacktest.DM},
		{"@" + slacktest.Ana, slacktest.DM},
		{"<@" + slacktest.Ana + ">", slacktest.DM},
		{"<@" + slacktest.Ana + "|ana>", slacktest.DM},
	}
	for _, tt := range tests {
		t.Run(tt.to, func(t *testing.T) {
			t.Parallel()
			var r channels.RecipientResolver = reachingIn(t, everybody).channel
			chat, err := r.Resolve(t.Context(), slacktest.Ana, tt.to)
			require.NoError(t, err)
			require.Equal(t, slacktest.Team+"/"+tt.want, chat)
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	some := slack.Options{AllowUsers: []string{slacktest.Ana, goneID, helperID, slacktest.BotUser}, AllowChannels: []string{slacktest.General, closedAlo}}
	tests := []struct {
		name, to string
		options  slack.Options
		sender   string
		want     string
	}{
		{"a channel that is not allowed", "#ops", some, slacktest.Ana, "channels.slack.allow_channels does not include " + opsID},
		{"a channel without the sender", "#ops", everybody, slacktest.Ben, "the person asking is not in #ops"},
		{"a channel, when nobody asks", "#ops", everybody, "", "the person asking is not in #ops"},
		{"a channel without the bot", "#elsewhere", everybody, slacktest.Ana, "the bot is not in a channel named elsewhere"},
		{"a channel without the bot, by its ID", elseID, everybody, slacktest.Ana, "the bot is not in a channel named " + elseID},
		{"a private channel without the sender, as if it were not there", "#alone", everybody, slacktest.Ana, "the bot is not in a channel named alone"},
		{"a private channel without the sender, by its ID", closedAlo, some, slacktest.Ana, "the bot is not in a channel named " + closedAlo},
		{"a channel that is not there", "#nowhere", everybody, slacktest.Ana, "the bot is not in a channel named nowhere"},
		{"an ID of nothing", "C0NOTHING", everybody, slacktest.Ana, "the bot is not in a channel named C0NOTHING"},
		{"an archived channel", oldID, everybody, slacktest.Ana, "#old is archived"},
		{"a direct message by its ID", slacktest.DM, everybody, slacktest.Ana, "name the person instead"},
		{"nothing", " # ", everybody, slacktest.Ana, "is neither a channel nor a person"},
		{"a person who is not allowed", "@ben", some, slacktest.Ana, "channels.slack.allow_users does not include " + slacktest.Ben},
		{"a person who is not there", "@nobody", everybody, slacktest.Ana, "no one is called nobody"},
		{"an ID of nobody", "U0NOBODY", everybody, slacktest.Ana, "channels.slack.allow_users does not include U0NOBODY"},
		{"a listed ID of nobody", "U0NOBODY", slack.Options{AllowUsers: []string{"U0NOBODY"}}, slacktest.Ana, "no one has the ID U0NOBODY"},
		{"a person who is gone", goneID, some, slacktest.Ana, "Gone Long is a bot or deactivated"},
		{"the name of a person who is gone", "@gone", some, slacktest.Ana, "no one is called gone"},
		{"a bot", helperID, some, slacktest.Ana, "Helper is a bot or deactivated"},
		{"itself", slacktest.BotUser, some, slacktest.Ana, "is a bot or deactivated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := reachingIn(t, tt.options)
			_, err := s.channel.Resolve(t.Context(), tt.sender, tt.to)
			require.ErrorContains(t, err, tt.want)
			require.Nil(t, remoteOf(err), "it is for the model to read")
			require.Empty(t, s.Calls("conversations.open"))
		})
	}

	t.Run("an ambiguous name", func(t *testing.T) {
		t.Parallel()
		s := reachingIn(t, everybody)
		s.AddUser(slacktest.User{ID: "U0ANA2", Name: "ana2", RealName: "Ana Lima", Display: "Ana"})
		_, err := s.channel.Resolve(t.Context(), slacktest.Ben, "@ana")
		require.ErrorContains(t, err, "several people are called ana")
		require.ErrorContains(t, err, "U0ANA (ana), U0ANA2 (Ana)")
	})
}

func TestResolveWhoAsks(t *testing.T) {
	t.Parallel()
	s := reachingIn(t, slack.Options{})
	chat, err := s.channel.Resolve(t.Context(), slacktest.Ben, "@ben")
	require.NoError(t, err, "whoever asks was let in, by pairing perhaps")
	s.send(domain.Outbound{ID: "o1", Chat: chat, Text: "done"})
	require.Equal(t, "done", s.Posted()[0].Text)
}

func TestResolveRemembersNames(t *testing.T) {
	t.Parallel()
	s := reachingIn(t, everybody)
	for _, to := range []string{"#ops", "@Ben Okafor"} {
		for range 3 {
			_, err := s.channel.Resolve(t.Context(), slacktest.Ana, to)
			require.NoError(t, err)
		}
	}
	require.Len(t, s.Calls("users.conversations"), 1)
	require.Len(t, s.Calls("users.list"), 1)

	s.Leave(slacktest.Ana, opsID)
	_, err := s.channel.Resolve(t.Context(), slacktest.Ana, "#ops")
	require.ErrorContains(t, err, "the person asking is not in #ops", "who is in it is not remembered")
	s.Leave(slacktest.BotUser, opsID)
	_, err = s.channel.Resolve(t.Context(), slacktest.Ana, "#ops")
	require.ErrorContains(t, err, "the bot is not in a channel named ops")
}

func TestResolveLooksThroughPages(t *testing.T) {
	t.Parallel()
	s := reachingIn(t, everybody)
	crowd := []string{slacktest.BotUser}
	for i := range 1200 {
		crowd = append(crowd, fmt.Sprintf("U0%06d", i))
		s.AddUser(slacktest.User{ID: crowd[i+1], Name: fmt.Sprintf("p%d", i), RealName: "One of many"})
		s.AddChannel(slacktest.Conversation{Name: fmt.Sprintf("room-%d", i), Kind: slacktest.Public, Members: []string{slacktest.BotUser}})
	}
	big := s.AddChannel(slacktest.Conversation{Name: "big", Kind: slacktest.Public, Members: append(crowd, slacktest.Ana)})
	chat, err := s.channel.Resolve(t.Context(), slacktest.Ana, "#big")
	require.NoError(t, err)
	require.Equal(t, slacktest.Team+"/"+big, chat)
	require.Len(t, s.Calls("users.conversations"), 3)
	require.Len(t, s.Calls("conversations.members"), 3)
	_, err = s.channel.Resolve(t.Context(), slacktest.Ana, "@p1199")
	require.NoError(t, err)
	require.Len(t, s.Calls("users.list"), 3)

	huge := s.AddChannel(slacktest.Conversation{Name: "huge", Kind: slacktest.Public, Members: append(strings.Split(strings.Repeat("U0OTHER ", 10_000), " "), slacktest.BotUser, slacktest.Ana)})
	_, err = s.channel.Resolve(t.Context(), slacktest.Ana, huge)
	require.ErrorContains(t, err, "too many members")
	require.Len(t, s.Calls("conversations.members"), 23)
}

func TestResolveWhenSlackFails(t *testing.T) {
	t.Parallel()

	t.Run("for a moment", func(t *testing.T) {
		t.Parallel()
		s := reachingIn(t, everybody)
		s.RateLimit("conversations.members", 1, 30*time.Second)
		_, err := s.channel.Resolve(t.Context(), slacktest.Ana, "#ops")
		s.transient(err)
		require.Equal(t, 30*time.Second, remoteOf(err).RetryAfter)
		_, err = s.channel.Resolve(t.Context(), slacktest.Ana, "#ops")
		s.transient(err)
		require.Len(t, s.Calls("conversations.members"), 1, "Slack asked to wait")
	})

	t.Run("without a scope", func(t *testing.T) {
		t.Parallel()
		s := reachingIn(t, everybody, without("im:write"))
		_, err := s.channel.Resolve(t.Context(), slacktest.Ana, "@ben")
		s.transient(err)
		require.ErrorContains(t, err, "the app lacks the scope im:write")
	})
}
