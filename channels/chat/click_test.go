package chat_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestClicks(t *testing.T) {
	t.Parallel()
	question := domain.ApprovalID("m1.1.0")
	for name, tt := range map[string]struct {
		change     func(*chat.Click)
		text, want string // of the message; its thread
		push       bool
	}{
		"stop a conversation":       {func(c *chat.Click) { c.Action, c.Value = chat.ActionStop, "t1" }, "/stop", "t1", true},
		"stop this conversation":    {func(c *chat.Click) { c.Action = chat.ActionStop }, "/stop", "t2", true},
		"approve":                   {func(c *chat.Click) { c.Action, c.Value = chat.ActionApprove, question }, "/approve " + question, "t2", false},
		"deny":                      {func(c *chat.Click) { c.Action, c.Value = chat.ActionDeny, question }, "/deny " + question, "t2", false},
		"approve nothing":           {func(c *chat.Click) { c.Action = chat.ActionApprove }, "", "", false},
		"approve without threads":   {func(c *chat.Click) { c.Action, c.Value, c.Thread = chat.ActionApprove, question, "" }, "/approve " + question, "", false},
		"something else":            {func(c *chat.Click) { c.Action = "dance" }, "", "", false},
		"by somebody not allowed":   {func(c *chat.Click) { c.Action, c.Sender = chat.ActionStop, "ben" }, "", "", false},
		"in a chat that is allowed": {func(c *chat.Click) { c.Action, c.Chat = chat.ActionStop, "team/else" }, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, options(), channeltest.NewBackend(nil), asIs)
			c := &chat.Click{Origin: chat.Origin{Inbound: domain.Inbound{PlatformID: "c1", Chat: "team/ops", Thread: "t2", Sender: "ana"}}}
			tt.change(c)
			for range 2 {
				_, err := r.in.Deliver(r.ctx, c)
				require.NoError(t, err)
			}
			got := r.backend.Accepted()
			if tt.text == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Equal(t, tt.text, got[0].Text)
			require.Equal(t, tt.want, got[0].Thread)
			require.Equal(t, tt.push, got[0].Push)
		})
	}
}

func TestRatings(t *testing.T) {
	t.Parallel()
	r := run(t, options(), channeltest.NewBackend(nil), asIs)
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, c := range []chat.Click{
		{Action: chat.ActionGood, Value: "m1"}, {Action: chat.ActionBad, Value: "m1"},
	} {
		c.Origin = chat.Origin{Inbound: domain.Inbound{PlatformID: "c1", Chat: "team/ops", Sender: "ana", SentAt: at}}
		_, err := r.in.Deliver(r.ctx, &c)
		require.NoError(t, err)
	}
	require.Equal(t, []domain.Rating{
		{Turn: "m1", Channel: "fake", Chat: "team/ops", Sender: "ana", Good: true, At: at},
		{Turn: "m1", Channel: "fake", Chat: "team/ops", Sender: "ana", At: at},
	}, r.backend.Ratings())
}

func TestSlashCommandsInMemory(t *testing.T) {
	t.Parallel()
	r := run(t, options(), channeltest.NewBackend(channeltest.Hold), asIs)
	n := 0
	say := func(sender, text string, change func(*chat.Command)) string {
		n++
		c := &chat.Command{Origin: chat.Origin{Inbound: domain.Inbound{PlatformID: string(rune('a' + n)), Chat: "team/ops", Sender: sender, Text: text}}}
		if change != nil {
			change(c)
		}
		answer, err := r.in.Deliver(r.ctx, c)
		require.NoError(t, err)
		return answer
	}
	require.Contains(t, say("ana", "help", nil), "`/approve [ID]`")
	require.Contains(t, say("ben", "help", nil), "allow_users")
	require.Contains(t, say("ana", "status", nil), "not working on anything")
	require.Contains(t, say("ana", "approve", nil), "Nothing is waiting")
	require.NoError(t, r.post(func(p *chat.Post) { p.Opens, p.SenderName, p.Text = "t1", "Ana", "deploy\nstaging" }))
	require.Regexp(t, `^I am working on:\n• Ana, .* ago: deploy staging$`, say("ana", "status", nil))
	require.Equal(t, "Stopping what you asked for.", say("ana", "stop", nil))
	require.Equal(t, "/stop", r.backend.Accepted()[1].Text)
	require.Equal(t, "t1", r.backend.Accepted()[1].Thread)

	inDirect := func(c *chat.Command) { c.Chat, c.Direct = "team/dm", true }
	require.Contains(t, say("ana", "new", inDirect), "Each thread", "a chat that we do not know")
	require.NoError(t, r.post(direct))
	require.Empty(t, say("ana", "new", inDirect), "the reply is a message")
	require.Equal(t, "/new", r.backend.Accepted()[3].Text)

	inThread := func(c *chat.Command) { c.Thread = "t1" }
	require.Empty(t, say("ana", "new", inThread), "where threads have commands")
	require.Equal(t, "t1", r.backend.Accepted()[4].Thread)
}
