package message_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/message"
)

// outbox is a store with one turn, whose reply goes to slack, and its deliveries.
type outbox struct {
	stored    []domain.Outbound
	delivered []string
	state     domain.OutboxState
	err       error
}

func (*outbox) Route(context.Context, string) (domain.Route, error) {
	return domain.Route{Channel: "slack", Chat: "C1", Thread: "1.2", Sender: "ana"}, nil
}

func (o *outbox) Send(_ context.Context, out domain.Outbound) error {
	o.stored = append(o.stored, out)
	return nil
}

// Resolve lets ana write to #ops only.
func (*outbox) Resolve(_ context.Context, sender, to string) (string, error) {
	if sender == "ana" && to == "#ops" {
		return "C2", nil
	}
	return "", errors.New("not allowed")
}

func (o *outbox) deliver(_ context.Context, id string) (domain.OutboxState, error) {
	o.delivered = append(o.delivered, id)
	return o.state, o.err
}

func send(t *testing.T, o *outbox, attempt int, arguments string) (string, error) {
	t.Helper()
	workspace := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(workspace, "report.csv"), []byte("a,b"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(workspace, "folder"), 0o700))
	made := message.New(message.Options{
		Store: o, Workspace: workspace,
		Outboxes: map[string]message.Outbox{"slack": {Deliver: o.deliver, Resolver: o}, "telegram": {Deliver: o.deliver}},
	})
	require.NoError(t, made.Err())
	result, err := made.Run(t.Context(), tool.Call{Key: "turn.3.0", Attempt: attempt, Arguments: json.RawMessage(arguments)})
	return result.Text, err
}

func TestSend(t *testing.T) {
	t.Parallel()
	var o outbox
	text, err := send(t, &o, 1, `{"content":"done","to":"#ops","files":["report.csv"]}`)
	require.NoError(t, err)
	require.Equal(t, "Sent.", text)
	require.Len(t, o.stored, 2)
	require.Equal(t, []string{o.stored[0].ID, o.stored[1].ID}, o.delivered)
	for _, out := range o.stored {
		require.Equal(t, "turn", out.Turn)
		require.Equal(t, "C2", out.Chat)
		require.Empty(t, out.Thread)
	}
	require.Equal(t, "done", o.stored[0].Text)
	require.Equal(t, "report.csv", o.stored[1].Path)

	o = outbox{}
	_, err = send(t, &o, 1, `{"content":"here"}`)
	require.NoError(t, err)
	require.Equal(t, "1.2", o.stored[0].Thread, "the conversation of the turn")
}

func TestSendRefuses(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{}`:                                   "nothing to send",
		`{"content":"x","channel":"signal"}`:   `unknown channel "signal"; available: slack, telegram`,
		`{"content":"x","channel":"telegram"}`: "to is required",
		`{"content":"x","channel":"telegram","to":"@b"}`:            "the sender is not known there",
		`{"content":"x","to":"#secret"}`:                            "not allowed",
		`{"files":["missing"]}`:                                     "not found",
		`{"files":["../outside"]}`:                                  "only files in the workspace",
		`{"files":["folder"]}`:                                      "not a regular file",
		`{"files":["1","2","3","4","5","6","7","8","9","10","11"]}`: "at most 10 files",
	} {
		var o outbox
		_, err := send(t, &o, 1, arguments)
		require.ErrorContains(t, err, want, arguments)
		require.NotErrorIs(t, err, tool.ErrRetry)
		require.Empty(t, o.stored)
	}
}

func TestSendRetries(t *testing.T) {
	t.Parallel()
	down := &remote.Error{Service: "slack", Status: 503, Err: errors.New("down")}
	_, err := send(t, &outbox{err: down}, 1, `{"content":"x"}`)
	require.ErrorIs(t, err, tool.ErrRetry)
	_, err = send(t, &outbox{err: down}, 10, `{"content":"x"}`)
	require.ErrorContains(t, err, "10 attempts failed")
	require.NotErrorIs(t, err, tool.ErrRetry)
	_, err = send(t, &outbox{state: domain.OutboxFailed}, 1, `{"content":"x"}`)
	require.ErrorContains(t, err, "does not accept messages")
	require.NotErrorIs(t, err, tool.ErrRetry)
	_, err = send(t, &outbox{state: domain.OutboxKept}, 1, `{"content":"x"}`)
	require.ErrorContains(t, err, "will be sent then")
	require.NotErrorIs(t, err, tool.ErrRetry)
}
