package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/prompt"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// numberedTurn is a turn and its place among those of its session, from 1.
type numberedTurn struct {
	domain.Turn
	Number int
}

// numberedTurns returns all turns of a session, oldest first.
func numberedTurns(ctx context.Context, stored *store.Store, key string) ([]numberedTurn, error) {
	turns, err := stored.Turns(ctx, key, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	slices.Reverse(turns)
	numbered := make([]numberedTurn, len(turns))
	for i, turn := range turns {
		numbered[i] = numberedTurn{turn, i + 1}
	}
	return numbered, nil
}

// pickTurn returns the turn that a person means: by its number or ID, or the last.
func pickTurn(turns []numberedTurn, which string) (numberedTurn, error) {
	number, err := strconv.Atoi(which)
	if which == "" {
		number, err = len(turns), nil
	}
	for _, turn := range turns {
		if turn.ID == which || err == nil && turn.Number == number {
			return turn, nil
		}
	}
	return numberedTurn{}, fmt.Errorf("there is no turn %s; the session has %d", oneLine(which, lineLimit), len(turns))
}

// turnPrompt is what a model was given in a turn, in JSON.
type turnPrompt struct {
	Turn     string        `json:"turn"`
	Number   int           `json:"number"`
	Prompt   string        `json:"prompt"`
	Messages []llm.Message `json:"messages,omitempty"` // the prompt is the first
}

// showPrompt prints what the model was given in a turn; stored is nil if there is
// no store yet.
func (v sessionView) showPrompt(ctx context.Context, w io.Writer, stored *store.Store, key string) error {
	if stored == nil {
		return unknownSession(key)
	}
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
		return fmt.Errorf("no model has answered in turn %d", turn.Number)
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

// sent is the conversation that a turn's last model call was sent, without its
// pictures, as far as that can be told today: what memory took in since is not in it.
func (v sessionView) sent(ctx context.Context, stored *store.Store, turn domain.Turn, system string) ([]llm.Message, error) {
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
	return prompt.Messages(prompt.Conversation{System: system, Begun: begun, Turn: turn.ID, Window: v.window, Now: at}), nil
}

func (p turnPrompt) print(w io.Writer) error {
	if len(p.Messages) == 0 {
		_, err := fmt.Fprintln(w, printable(p.Prompt))
		return err
	}
	for _, m := range p.Messages {
		who := string(m.Role)
		if m.Name != "" {
			who += " " + m.Name
		}
		if m.ToolCallID != "" {
			who += " " + m.ToolCallID
		}
		if _, err := fmt.Fprintf(w, "── %s ──\n%s\n", oneLine(who, lineLimit), printable(m.Content)); err != nil {
			return err
		}
		for _, call := range m.ToolCalls {
			fmt.Fprintf(w, "→ %s %s %s\n", oneLine(call.Name, lineLimit), oneLine(call.ID, lineLimit), printable(call.Arguments))
		}
	}
	return nil
}
