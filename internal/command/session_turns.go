package command

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// numberedTurn is a turn with its number in the session, starting at 1.
type numberedTurn struct {
	domain.Turn
	Number int `json:"number"`
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

// pickTurn returns the turn with a number or ID; the last one if which is empty.
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
	return numberedTurn{}, fmt.Errorf("turn %s not found; the session has %s", oneLine(which, lineLimit), text.Count(len(turns), "turn"))
}
