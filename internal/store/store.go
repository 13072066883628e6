// Package store is the durable state: accepted messages, transcripts, the intents and
// results of tool calls, and outbound messages. It uses SQLite on one machine or Postgres
// on several.
//
// Each method is one transaction. Rows that record events (messages, completions,
// results, intents) are inserted if absent: the first writer wins, and later ones get
// what is stored. Rows that change (outbox) carry a fence issued by the store, so that a
// writer that was replaced cannot overwrite its successor.
package store

import (
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Errors that callers test for.
var (
	ErrTurnEnded = errors.New("the turn has ended")
	ErrFenced    = errors.New("another attempt took over")
)

// BeginInput is the input of [Store.Begin].
type BeginInput struct {
	Session    string
	Channel    string
	Turn       string
	Step       int
	Messages   []string // inbound IDs that this step consumes
	WorkflowID string
	RunID      string
	Window     int // bounds the messages of earlier turns in History
	// Scope returns the memory scope of a turn that a message begins; nil: none.
	Scope func(domain.Inbound) string
}

func (in BeginInput) scope(first domain.Inbound) string {
	if in.Scope == nil {
		return ""
	}
	return in.Scope(first)
}

// Completion is the input of [Store.SaveCompletion].
type Completion struct {
	Turn     string
	Step     int
	Message  domain.Message // role assistant
	Provider string
	Model    string
	Usage    domain.Usage
	Cached   int   // of the prompt's tokens
	Cost     int64 // millionths of a US dollar
	Priced   bool  // Cost is known
	Duration time.Duration
	Prompt   string // system prompt, stored once under its hash
	Final    bool   // ends the turn: Reply is the answer
	Reply    string
	Silent   bool // the reply is not delivered
}

// Intent is a record of what a tool call is about to do.
type Intent struct {
	Turn string
	Call string // call key
	Part string
	Data []byte
}

// End is the input of [Store.EndTurn].
type End struct {
	Session    string
	Channel    string
	Turn       string
	Messages   []string // inbound IDs of the step that did not complete
	Status     domain.TurnStatus
	Reply      string
	Fill       string // content for tool calls without a result
	Silent     bool   // do not deliver the reply
	WorkflowID string
	RunID      string
}
