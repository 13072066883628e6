package starter_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

var errAway = errors.New("the engine is away")

func away(protocol.MessageRef) error { return errAway }

func TestAccept(t *testing.T) {
	t.Parallel()

	t.Run("stores a message before it is signalled", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.engine.Refuse(func(m protocol.MessageRef) error {
			_, err := b.store.Inbound(context.Background(), m.ID)
			return err
		})
		accepted := b.accept(t, inbound("1", "hi"))
		require.Equal(t, channels.Accepted{
			Message: domain.MessageID("test", "", "1"), Session: "test:c1", WorkflowID: "session/test:c1",
		}, accepted)
		require.Equal(t, []string{accepted.Message}, b.engine.Signalled())
	})

	t.Run("keeps every field of the channel's message", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		sent := domain.Inbound{
			Channel: "test", Scope: "T1", PlatformID: "1", Chat: "c1", Thread: "t1", Sender: "u1", SenderName: "Ana", Text: "hi",
			SentAt: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), Push: true,
			Files: []domain.File{{ID: "F1", Name: "a.png", MIME: "image/png", Size: 7, URL: "https://files.example.com/F1"}},
		}
		accepted := b.accept(t, sent)
		require.Equal(t, "test:c1:t1", accepted.Session)
		stored, err := b.store.Inbound(t.Context(), accepted.Message)
		require.NoError(t, err)
		require.Equal(t, domain.Inbound{
			ID: domain.MessageID("test", "T1", "1"), PlatformID: "1", Session: "test:c1:t1", Channel: "test", Chat: "c1", Thread: "t1",
			Sender: "u1", SenderName: "Ana", Text: "hi", SentAt: sent.SentAt, Seq: stored.Seq, AcceptedAt: stored.AcceptedAt, Push: true, Files: sent.Files,
		}, stored)
	})

	t.Run("accepts a message whose signal fails", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.engine.Refuse(away)
		accepted := b.accept(t, inbound("1", "hi"))
		require.Empty(t, b.engine.Signalled())
		state, err := b.Message(t.Context(), accepted.Message)
		require.NoError(t, err)
		require.Equal(t, domain.ReplyQueued, state.Status)
	})

	t.Run("rejects a message that it cannot store", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.NoError(t, b.store.Close())
		_, err := b.Accept(t.Context(), inbound("1", "hi"))
		require.Error(t, err)
		require.Empty(t, b.engine.Signalled())
	})

	t.Run("signals a duplicate again until it is consumed", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first := b.accept(t, inbound("1", "hi"))
		again := b.accept(t, inbound("1", "hi"))
		require.False(t, first.Duplicate)
		require.True(t, again.Duplicate)
		require.Equal(t, first.Message, again.Message)
		require.Len(t, b.engine.Signalled(), 2)
		b.begin(t, first.Message, 1, first.Message)
		require.True(t, b.accept(t, inbound("1", "hi")).Duplicate)
		require.Len(t, b.engine.Signalled(), 2)
	})

	t.Run("refuses an ID that comes again with another text or chat", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.accept(t, inbound("1", "hi"))
		_, err := b.Accept(t.Context(), inbound("1", "ho"))
		require.ErrorIs(t, err, domain.ErrConflict)
		elsewhere := inbound("1", "hi")
		elsewhere.Chat = "c2"
		_, err = b.Accept(t.Context(), elsewhere)
		require.ErrorIs(t, err, domain.ErrConflict)
		elsewhere.Scope = "c2"
		b.accept(t, elsewhere)
	})

	t.Run("does not wait long for a slow engine, which gets all in order", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			slow := time.Second
			b.engine.Refuse(func(protocol.MessageRef) error {
				time.Sleep(slow)
				return nil
			})
			var sent []string
			begun := time.Now()
			for _, id := range []string{"1", "2", "3"} {
				accepted, err := b.Accept(t.Context(), inbound(id, "hi"))
				require.NoError(t, err)
				sent = append(sent, accepted.Message)
			}
			require.Less(t, time.Since(begun), slow)
			b.Settle()
			require.Equal(t, sent, b.engine.Signalled())
		})
	})

	t.Run("signals what it stored though the caller went away", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ctx, cancel := context.WithCancel(t.Context())
		b.engine.Refuse(func(protocol.MessageRef) error {
			cancel()
			return nil
		})
		accepted, err := b.Accept(ctx, inbound("1", "hi"))
		require.NoError(t, err)
		b.Settle()
		require.Equal(t, []string{accepted.Message}, b.engine.Signalled())
	})

	t.Run("sends the engine small payloads for any message", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		msg := inbound("1", strings.Repeat("<long\x00\xff \"text\">", 100_000))
		msg.SenderName = strings.Repeat("ü", 1000)
		b.accept(t, msg)
		require.LessOrEqual(t, len(b.engine.Signals()[0].Preview), 120)
		summary := b.engine.Options()[0].StaticSummary
		require.LessOrEqual(t, len(summary), 240)
		require.True(t, strings.HasPrefix(summary, "test c1 · @ü"))
	})
}

func TestCommands(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text    string
		command domain.Command
	}{
		{"/new", domain.CommandNew},
		{"/NEW", domain.CommandNew},
		{"  /stop  ", domain.CommandStop},
		{"/status please", domain.CommandStatus},
		{"/help\nme", domain.CommandHelp},
		{"/help\tme", domain.CommandHelp},
		{"/model provider/model", domain.CommandModel},
		{"/jobs", domain.CommandJobs},
		{"/usage", domain.CommandUsage},
		{"/newest", domain.CommandNone},
		{"/etc/passwd", domain.CommandNone},
		{"new", domain.CommandNone},
		{"what is /new", domain.CommandNone},
		{"//new", domain.CommandNone},
		{"/", domain.CommandNone},
		{"", domain.CommandNone},
		{"/none", domain.CommandNone},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			accepted := b.accept(t, inbound("1", tt.text))
			require.Equal(t, tt.command, b.engine.Signals()[0].Command)
			stored, err := b.store.Inbound(t.Context(), accepted.Message)
			require.NoError(t, err)
			require.Equal(t, tt.text, stored.Text)
			if tt.command != domain.CommandNone {
				require.Contains(t, b.engine.Options()[0].StaticSummary, `"/`+string(tt.command)+`"`)
			}
		})
	}
}

func TestTranscript(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.Transcript(t.Context(), "test:c1")
	require.ErrorIs(t, err, domain.ErrNotFound)
	_, err = b.Message(t.Context(), "m1")
	require.ErrorIs(t, err, domain.ErrNotFound)

	m := b.accept(t, inbound("1", "hi")).Message
	b.begin(t, m, 1, m)
	b.answer(t, m, 1, "hello")
	transcript, err := b.Transcript(t.Context(), "test:c1")
	require.NoError(t, err)
	require.Len(t, transcript, 2)
	require.Equal(t, domain.RoleUser, transcript[0].Role)
	require.Equal(t, "hi", transcript[0].Content)
	require.Equal(t, "hello", transcript[1].Content)
	state, err := b.Message(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, domain.Reply{
		Message: m, Session: "test:c1", Status: domain.ReplyDone, Text: "hello", Turn: m,
		Usage: domain.Usage{PromptTokens: 3, CompletionTokens: 2},
	}, state)

	// A new conversation begins with an empty transcript.
	n := b.accept(t, inbound("2", "/new")).Message
	_, _, err = b.store.Answer(t.Context(), store.AnswerInput{Session: "test:c1", Channel: "test", Message: n, Reply: "New.", Reset: true})
	require.NoError(t, err)
	transcript, err = b.Transcript(t.Context(), "test:c1")
	require.NoError(t, err)
	require.Empty(t, transcript)
}
