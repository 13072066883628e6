package chat_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// grouped is a platform with groups.
type grouped struct {
	*plain
	words chat.Words
}

func (g grouped) Words() chat.Words { return g.words }

func TestSetupOfAPlatformWithoutChecks(t *testing.T) {
	t.Parallel()
	groups := chat.Words{Group: "group", FindPerson: "ask them", FindGroup: "look there"}
	for _, tt := range []struct {
		name   string
		words  chat.Words
		access chat.Access
		want   chat.Finding
	}{
		{
			"all in all", groups,
			chat.Access{Users: []string{"*"}, Chats: []string{"*"}},
			chat.Passed("answers all people, in direct messages and in all groups it is invited to"),
		},
		{
			"some in some", groups,
			chat.Access{Users: []string{"1"}, Chats: []string{"2", "3"}},
			chat.Passed("answers 1 person, in direct messages and in 2 groups it is invited to"),
		},
		{
			"nowhere else", groups,
			chat.Access{Users: []string{"1", "2"}},
			chat.Passed("answers 2 people, only in direct messages since allow_groups is empty; look there"),
		},
		{"without groups", chat.Words{FindPerson: "ask them"}, chat.Access{Users: []string{"1"}}, chat.Passed("answers 1 person")},
		{"nobody", groups, chat.Access{}, chat.Warned(`set channels.fake.allow_users and allow_groups to IDs, or ["*"] for all: ask them; look there; `+
			"or let people send the bot a direct message, and allow them with the code in its reply: `holdfast pairing approve CODE`",
			"only people allowed by pairing are answered, in direct messages: allow_users and allow_groups are empty")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := chat.New(grouped{newPlain(), tt.words}, chat.Options{ReceiverOptions: chat.ReceiverOptions{Access: tt.access}})
			require.Equal(t, []chat.Finding{chat.Passed("connected as bot (bot)"), tt.want}, c.CheckSetup(t.Context()))
			require.Nil(t, c.Webhook())
		})
	}

	p := newPlain()
	p.failing = 1
	found := chat.New(p, chat.Options{}).CheckSetup(t.Context())
	require.Equal(t, chat.Failed("check the settings channels.fake; see docs/fake.md", "%v", errDown), found[0])
}

func TestUnreachedPlatform(t *testing.T) {
	t.Parallel()
	at := chat.Endpoint{Platform: "Fake", URL: "http://u:secret@127.0.0.1:1/", Setting: "channels.fake.api_url", Needs: "https to fake.example"}
	away := at.Unreached(errors.New("connection refused"))
	require.Equal(t, "http://u:xxxxx@127.0.0.1:1/ does not answer like Fake: connection refused", away.Text)
	require.Contains(t, away.Fix, "the firewall (https to fake.example)")
	require.Contains(t, away.Fix, "channels.fake.api_url")
	between := at.Unreached(fmt.Errorf("call: %w", &remote.Error{Service: "fake", Status: http.StatusProxyAuthRequired, Err: errors.New("no")}))
	require.Contains(t, between.Text, "something between here and http://u:xxxxx@127.0.0.1:1/ answers in its place")
}
