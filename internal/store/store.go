// Package store keeps what must not be lost: accepted messages, transcripts,
// what tool calls intend to do and what came of them, and replies to be sent. It
// is SQL: SQLite on one machine, Postgres on many.
//
// Each method is one transaction. Rows that say what happened (messages,
// completions, results, intents) are inserted if absent: the first writer wins,
// and a later one is given what is stored. Rows that change (outbox) carry a
// fence issued by the store, so that a writer that was replaced cannot
// overwrite its successor.
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

// BeginInput is what the start of a step makes true.
type BeginInput struct {
	Session    string
	Channel    string
	Turn       string
	Step       int
	Messages   []string // inbound IDs that this step takes in
	WorkflowID string
	RunID      string
	Window     int // how many messages of earlier turns History has at most
	// Scope says whose memory a turn belongs to that a message begins; nil: nobody's.
	Scope func(domain.Inbound) string
}

func (in BeginInput) scope(first domain.Inbound) string {
	if in.Scope == nil {
		return ""
	}
	return in.Scope(first)
}

// Completion is a model's answer, to be stored.
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

// Intent is what a tool call said it was about to do.
type Intent struct {
	Turn string
	Call string // call key
	Part string
	Data []byte
}

// End closes a turn that the model did not finish.
type End struct {
	Session    string
	Channel    string
	Turn       string
	Messages   []string // inbound IDs taken in by the step that did not complete
	Status     domain.TurnStatus
	Reply      string
	Fill       string // content for tool calls without a result
	Silent     bool   // make no outbox row
	WorkflowID string
	RunID      string
}
