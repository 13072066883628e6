package starter

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/store"
)

// Paired implements [channels.Pairing].
func (s *Starter) Paired(ctx context.Context, channel, sender string) (bool, error) {
	return s.o.Store.Paired(ctx, channel, sender)
}

// Pair implements [channels.Pairing].
func (s *Starter) Pair(ctx context.Context, channel, sender, name string) (code string, err error) {
	pairing, err := s.o.Store.Pair(ctx, store.Pairing{Channel: channel, Sender: sender, Name: name, Code: newCode()})
	if err != nil {
		return "", fmt.Errorf("make a pairing code: %w", err)
	}
	return pairing.Code, nil
}

// newCode is 40 random bits that can be read out, such as K7PQ-2M4X.
func newCode() string {
	code := rand.Text()[:8]
	return code[:4] + "-" + code[4:]
}
