package chat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestWhichMessagesAreAnswered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change               func(*chat.Post)
		mention, thread, all bool
	}{
		"a mention":                     {nil, true, true, true},
		"a direct message":              {direct, true, true, true},
		"any other":                     {func(p *chat.Post) { p.Mentioned = false }, false, false, true},
		"in a thread that we began":     {func(p *chat.Post) { p.Mentioned, p.Thread, p.Replies = false, "t1", true }, false, true, true},
		"in a thread of others":         {func(p *chat.Post) { p.Mentioned, p.Thread = false, "t1" }, false, false, true},
		"in a thread that we know":      {func(p *chat.Post) { p.Mentioned, p.Thread = false, "known" }, false, true, true},
		"what would open a thread":      {func(p *chat.Post) { p.Mentioned, p.Opens = false, "known" }, false, false, true},
		"a reply outside of a thread":   {func(p *chat.Post) { p.Mentioned, p.Replies = false, true }, false, false, true},
		"a mention that opens a thread": {func(p *chat.Post) { p.Opens = "t9" }, true, true, true},
	} {
		for respond, want := range map[string]bool{chat.RespondMention: tt.mention, chat.RespondThread: tt.thread, chat.RespondAll: tt.all} {
			t.Run(name+", "+respond, func(t *testing.T) {
				t.Parallel()
				o := options()
				o.Respond = respond
				r := run(t, o, channeltest.NewBackend(nil), asIs)
				require.NoError(t, r.post(func(p *chat.Post) { p.Thread = "known" }))
				require.NoError(t, r.post(tt.change))
				require.Equal(t, want, len(r.backend.Accepted()) == 2)
			})
		}
	}
}

func TestAMessageIsAcceptedAsItIs(t *testing.T) {
	t.Parallel()
	r := run(t, options(), channeltest.NewBackend(nil), asIs)
	sent := post(func(p *chat.Post) {
		p.Opens, p.SenderName, p.Files = "t9", "Ana", []domain.File{{ID: "f1"}}
	})
	for range 2 {
		_, err := r.in.Deliver(r.ctx, sent)
		require.NoError(t, err)
	}
	want := sent.Inbound
	want.Channel, want.Thread, want.Push = "fake", "t9", true
	require.Equal(t, []domain.Inbound{want}, r.backend.Accepted())
	require.NoError(t, r.backend.Await(r.ctx, func(c channeltest.Counts) bool { return c.Calls == 1 }), "a redelivery within a moment costs no call")

	sent.Text = "edited"
	_, err := r.in.Deliver(r.ctx, sent)
	require.NoError(t, err, "another delivery would not help")
	require.True(t, r.log.has("keeping the first"))
	require.Len(t, r.backend.Accepted(), 1)
}

func TestAMessageThatWasEdited(t *testing.T) {
	t.Parallel()
	r := run(t, options(), channeltest.NewBackend(nil), asIs)
	say := func(id, text, revision string) {
		t.Helper()
		require.NoError(t, r.post(func(p *chat.Post) { p.PlatformID, p.Text, p.Revision = id, text, revision }))
	}
	say("m1", "one", "")
	say("m1", "one", "100") // only something else of it changed
	say("m1", "two", "101")
	say("m1", "two", "101") // delivered again
	say("m1", "/stop", "101")
	say("m2", "not seen before", "102")
	var texts []string
	for _, m := range r.backend.Accepted() {
		texts = append(texts, m.Text)
	}
	require.Equal(t, []string{"one", "I edited my message. It now reads:\n\ntwo", "/stop", "not seen before"}, texts)
}

func TestACommandAsText(t *testing.T) {
	t.Parallel()
	r := run(t, options(), channeltest.NewBackend(nil), asIs)
	say := func(text string, change func(*chat.Post)) string {
		require.NoError(t, r.post(func(p *chat.Post) {
			if p.Text = text; change != nil {
				change(p)
			}
		}))
		all := r.backend.Accepted()
		return all[len(all)-1].Text
	}
	require.Equal(t, "/stop", say(" Stop ", nil))
	require.Equal(t, "/usage", say("/usage", nil))
	require.Equal(t, "stop it", say("stop it", nil))
	require.Equal(t, "stop", say("stop", direct), "where a slash can be typed it has to be")
}
