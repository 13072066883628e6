package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/prompt"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// promptView prints the prompt that the model was sent in a turn.
type promptView struct {
	turn   string // number or ID; empty: the last
	full   bool   // all messages, not only the system prompt
	json   bool
	window int // messages of earlier turns in a prompt
}

// turnPrompt is the prompt that the model was sent in a turn.
type turnPrompt struct {
	Turn     string           `json:"turn"`
	Number   int              `json:"number"`
	Prompt   string           `json:"prompt"`
	Messages []domain.Message `json:"messages,omitempty"` // the first is the prompt
}

// show prints the prompt of a turn.
func (v promptView) show(ctx context.Context, w io.Writer, stored *store.Store, key string) error {
	turns, err := numberedTurns(ctx, stored, key)
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		return unknownSession(key)
	}
	turn, err := pickTurn(turns, v.turn)
	if err != nil {
		return err
	}
	given := turnPrompt{Turn: turn.ID, Number: turn.Number}
	given.Prompt, err = stored.Prompt(ctx, turn.ID)
	if errors.Is(err, domain.ErrNotFound) {
		return fmt.Errorf("no model answered in turn %d", turn.Number)
	}
	if err != nil {
		return err
	}
	if v.full {
		if given.Messages, err = v.sent(ctx, stored, turn.Turn, given.Prompt); err != nil {
			return err
		}
	}
	if v.json {
		return printJSON(w, given)
	}
	return given.print(w)
}

// sent reconstructs the messages of a turn's last model call, without images and
// without turns that were consolidated into memory since.
func (v promptView) sent(ctx context.Context, stored *store.Store, turn domain.Turn, system string) ([]domain.Message, error) {
	begun, err := stored.Begin(ctx, store.BeginInput{Session: turn.Session, Turn: turn.ID, Step: 1, Window: v.window})
	if err != nil {
		return nil, err
	}
	at := time.Now()
	for i, m := range slices.Backward(begun.History) {
		if m.Turn == turn.ID && m.Role == domain.RoleAssistant {
			begun.History, at = begun.History[:i], m.CreatedAt.Local()
			break
		}
	}
	return prompt.Messages(prompt.Conversation{System: system, Step: begun, Turn: turn.ID, Window: v.window, Now: at}), nil
}

func (p turnPrompt) print(w io.Writer) error {
	if len(p.Messages) == 0 {
		_, err := fmt.Fprintln(w, text.Printable(p.Prompt))
		return err
	}
	for _, m := range p.Messages {
		who := string(m.Role)
		if m.Name != "" {
			who += " " + m.Name
		}
		if m.CallID != "" {
			who += " " + m.CallID
		}
		if _, err := fmt.Fprintf(w, "── %s ──\n%s\n", oneLine(who, lineLimit), text.Printable(m.Content)); err != nil {
			return err
		}
		for _, call := range m.ToolCalls {
			fmt.Fprintf(w, "→ %s %s %s\n", oneLine(call.Name, lineLimit), oneLine(call.ID, lineLimit), text.Printable(call.Arguments))
		}
	}
	return nil
}
