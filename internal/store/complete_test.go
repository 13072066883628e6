package store_test

import (
	"bytes"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func completion(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	_, err := b.Completion(t.Context(), "m1", 1)
	require.ErrorIs(t, err, domain.ErrNotFound)

	c := completed("m1", 1, "exec", "grep")
	c.Message.Reasoning = "hm"
	first, outbox, err := b.SaveCompletion(t.Context(), c)
	require.NoError(t, err)
	require.Empty(t, outbox)
	c.Message.Turn, c.Message.Step, c.Message.Role, c.Message.CreatedAt = "m1", 1, domain.RoleAssistant, first.CreatedAt
	require.Equal(t, c.Message, first)

	late := completed("m1", 1)
	late.Message.Content = "late"
	again, outbox, err := b.SaveCompletion(t.Context(), late)
	require.NoError(t, err)
	require.Empty(t, outbox)
	require.Equal(t, first, again)
	read, err := b.Completion(t.Context(), "m1", 1)
	require.NoError(t, err)
	require.Equal(t, first, read)
	turn, err := b.Turn(t.Context(), "m1")
	require.NoError(t, err)
	require.Equal(t, domain.TurnRunning, turn.Status, "who came late ended nothing")
	require.Equal(t, 1, turn.Steps)

	_, _, err = b.SaveCompletion(t.Context(), completed("absent", 1))
	require.ErrorIs(t, err, domain.ErrNotFound)
}

func completionRace(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	var mu sync.Mutex
	seen := map[string]bool{}
	all(16, func(i int) {
		c := completed("m1", 1)
		c.Message.Content = strconv.Itoa(i)
		c.Reply = c.Message.Content
		stored, outbox, err := b.SaveCompletion(t.Context(), c)
		mu.Lock()
		defer mu.Unlock()
		if err != nil || outbox != "o1" {
			t.Errorf("outbox %q: %v", outbox, err)
		}
		seen[stored.Content] = true
	})
	require.Len(t, seen, 1)
	turn, err := b.Turn(t.Context(), "m1")
	require.NoError(t, err)
	require.True(t, seen[turn.Reply])
	require.Equal(t, 1, turn.Steps)
	require.Equal(t, 10, turn.PromptTokens)
}

func usage(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	for range 2 {
		b.complete(t, "m1", 1, "exec")
	}
	b.complete(t, "m1", 2)
	turn, err := b.Turn(t.Context(), "m1")
	require.NoError(t, err)
	require.Equal(t, domain.Usage{PromptTokens: 20, CompletionTokens: 4}, turn.Usage)
	require.Equal(t, 2, turn.Steps)
	found, err := b.Session(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, turn.Usage, found.Usage)
}

func final(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	for range 2 {
		stored, outbox := b.complete(t, "m1", 1)
		require.Equal(t, "m1 says 1", stored.Content)
		require.Equal(t, "o1", outbox)
	}
	turn, err := b.Turn(t.Context(), "m1")
	require.NoError(t, err)
	require.Equal(t, domain.TurnDone, turn.Status)
	require.Equal(t, "m1 says 1", turn.Reply)
	require.Equal(t, "o1", turn.Outbox)
	require.WithinDuration(t, time.Now(), turn.EndedAt, time.Minute)
	out, err := b.ClaimOutbox(t.Context(), "o1")
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), out.ClaimedAt, time.Minute)
	require.Equal(t, out.ClaimedAt, out.FirstClaimedAt)
	out.ClaimedAt, out.FirstClaimedAt = time.Time{}, time.Time{}
	require.Equal(t, domain.Outbound{
		ID: "o1", Turn: "m1", Channel: channel, Session: session, Chat: "c1", Thread: "t1", Text: "m1 says 1", State: domain.OutboxPending, Fence: 1,
		Ratable: true,
	}, out)
}

func push(t *testing.T, b *bundle) {
	quiet := message("m1")
	quiet.Push = false
	_, _, err := b.Accept(t.Context(), quiet)
	require.NoError(t, err)
	b.begin(t, step("m1", 1, "m1"))
	_, outbox := b.complete(t, "m1", 1)
	require.Empty(t, outbox)
	_, err = b.ClaimOutbox(t.Context(), "o1")
	require.ErrorIs(t, err, domain.ErrNotFound)
}

func result(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	b.complete(t, "m1", 1, "exec")
	_, found, err := b.Result(t.Context(), "m1", 1, 0)
	require.NoError(t, err)
	require.False(t, found)

	m := resultOf("m1", 0, "no such file")
	m.Failed = true
	first, err := b.SaveResult(t.Context(), m)
	require.NoError(t, err)
	m.Role, m.CreatedAt = domain.RoleTool, first.CreatedAt
	require.Equal(t, m, first)

	again, err := b.SaveResult(t.Context(), resultOf("m1", 0, "another"))
	require.NoError(t, err)
	require.Equal(t, first, again)
	read, found, err := b.Result(t.Context(), "m1", 1, 0)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, first, read)

	_, err = b.SaveResult(t.Context(), resultOf("absent", 0, "x"))
	require.ErrorIs(t, err, domain.ErrNotFound)
}

func fullResult(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	b.complete(t, "m1", 1, "exec", "exec")
	m := resultOf("m1", 0, "the first lines")
	m.Full = bytes.Repeat([]byte("a\x00\xffb\n"), 1<<20)
	stored, err := b.SaveResult(t.Context(), m)
	require.NoError(t, err)
	require.Empty(t, stored.Full)
	_, err = b.SaveResult(t.Context(), resultOf("m1", 1, "short"))
	require.NoError(t, err)

	all, err := b.ExportMessages(t.Context(), "m1")
	require.NoError(t, err)
	require.Len(t, all, 4)
	require.True(t, bytes.Equal(m.Full, all[2].Full))
	require.Empty(t, all[3].Full)
	require.Equal(t, "short", all[3].Content)
	require.Empty(t, b.begin(t, step("m1", 2)).History[2].Full)
}

func intend(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	intent := store.Intent{Turn: "m1", Call: "m1.1.0", Part: "a.txt", Data: []byte("\x00\xff")}
	begun, err := b.Begun(t.Context(), "m1", "m1.1.0")
	require.NoError(t, err)
	require.False(t, begun)
	data, fresh, err := b.Intend(t.Context(), intent)
	require.NoError(t, err)
	require.True(t, fresh)
	require.Equal(t, intent.Data, data)

	other := intent
	other.Data = []byte("other")
	data, fresh, err = b.Intend(t.Context(), other)
	require.NoError(t, err)
	require.False(t, fresh)
	require.Equal(t, intent.Data, data)

	require.NoError(t, b.Send(t.Context(), domain.Outbound{ID: domain.CallOutboxID("m1.1.1", 1), Turn: "m1", Channel: "test", Chat: "c"}))
	for call, want := range map[string]bool{"m1.1.0": true, "m1.1.1": true, "m1.1.2": false} {
		begun, err := b.Begun(t.Context(), "m1", call)
		require.NoError(t, err)
		require.Equal(t, want, begun, call)
	}

	second := store.Intent{Turn: "m1", Call: "m1.1.0", Part: "b.txt"}
	_, fresh, err = b.Intend(t.Context(), second)
	require.NoError(t, err)
	require.True(t, fresh)
	stored, err := b.Intents(t.Context(), "m1")
	require.NoError(t, err)
	require.Equal(t, []store.Intent{intent, second}, stored)
	none, err := b.Intents(t.Context(), "m2")
	require.NoError(t, err)
	require.Empty(t, none)
	_, _, err = b.Intend(t.Context(), store.Intent{Turn: "absent", Call: "absent.1.0"})
	require.ErrorIs(t, err, domain.ErrNotFound)
}

// anyText writes what text columns might refuse.
func anyText(t *testing.T, b *bundle) {
	const nasty, cleaned = "a\x00b\xff\xfec\U0001F600é\u2028'\"\\$1", "a\uFFFDb\uFFFDc\U0001F600é\u2028'\"\\$1"
	in := message("m1")
	in.Text, in.Sender, in.SenderName = nasty, nasty, nasty
	stored, _, err := b.Accept(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, cleaned, stored.Text)
	require.Equal(t, cleaned, stored.SenderName)
	_, fresh, err := b.Accept(t.Context(), in)
	require.NoError(t, err, "the same broken text is the same message")
	require.False(t, fresh)
	_, err = b.Inbound(t.Context(), nasty)
	require.ErrorIs(t, err, domain.ErrNotFound)

	begun := b.begin(t, step("m1", 1, "m1"))
	require.Equal(t, cleaned, begun.History[0].Content)
	require.Equal(t, cleaned, begun.Turn.Sender)
	c := completed("m1", 1, "exec")
	c.Message.Content, c.Message.Reasoning, c.Prompt = nasty, nasty, nasty
	c.Message.ToolCalls[0].Arguments = nasty
	completion, _, err := b.SaveCompletion(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, cleaned, completion.Content)
	require.Equal(t, cleaned, completion.Reasoning)
	require.Equal(t, cleaned, completion.ToolCalls[0].Arguments)
	saved, err := b.SaveResult(t.Context(), resultOf("m1", 0, nasty))
	require.NoError(t, err)
	require.Equal(t, cleaned, saved.Content)

	turn, err := b.EndTurn(t.Context(), store.End{Session: session, Channel: channel, Turn: "m1", Status: domain.TurnFailed, Reply: nasty})
	require.NoError(t, err)
	require.Equal(t, cleaned, turn.Reply)
	out, err := b.ClaimOutbox(t.Context(), turn.Outbox)
	require.NoError(t, err)
	require.Equal(t, cleaned, out.Text)
	require.NoError(t, b.MarkFailed(t.Context(), out.ID, out.Fence, nasty))
}
