package command

import (
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// sessionRow is a session in a list.
type sessionRow struct {
	Key              string `json:"key"`
	Channel          string `json:"channel"`
	Turns            int    `json:"turns"`
	Messages         int    `json:"messages"`
	PromptTokens     int    `json:"prompt_tokens"`
	CompletionTokens int    `json:"completion_tokens"`
	Model            string `json:"model,omitempty"` // set by /model
	shownCost
	CreatedAt time.Time `json:"created_at,omitzero"`
	UsedAt    time.Time `json:"used_at,omitzero"`
	Running   bool      `json:"running"` // it has unfinished work
}

func sessionRowOf(s domain.Session, running bool) sessionRow {
	return sessionRow{
		Key: s.Key, Channel: s.Channel, Turns: s.Turns, Messages: s.Messages,
		PromptTokens: s.Usage.PromptTokens, CompletionTokens: s.Usage.CompletionTokens,
		Model: s.Model, shownCost: shownCost{s.Cost, s.Unpriced},
		CreatedAt: s.CreatedAt, UsedAt: s.UpdatedAt, Running: running,
	}
}

func unknownSession(key string) error {
	return fmt.Errorf("session %s not found; see `holdfast sessions list`", oneLine(key, keyLimit))
}
