// Package tool describes the agent's tools: what the model is told, how a call may be
// retried, and the function that runs it. Its subpackages are the tools.
package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/holdfast-ai/holdfast/internal/llm"
)

// Kind determines what a retry may do after the call's worker was lost.
type Kind string

// The kinds of tools.
const (
	Repeatable Kind = "repeatable" // may run again
	Keyed      Kind = "keyed"      // recognizes through its [Journal] what it already did
	Once       Kind = "once"       // never runs again; the model is told that the outcome is unknown
)

// ErrOutcomeUnknown means that the tool cannot tell whether the call, or an earlier
// attempt, took effect. The model is told; the call is not repeated.
var ErrOutcomeUnknown = errors.New("outcome unknown: the call was interrupted and may or may not have taken effect; check before doing it again")

// ElsewhereError means that the call belongs to another place, where it is repeated.
type ElsewhereError struct {
	Place     string // as in [Call.Tried]
	Otherwise error  // what the model is told if that place does not answer
}

// Error implements error.
func (e *ElsewhereError) Error() string { return e.Otherwise.Error() }

// Unwrap returns what the model is told if the place does not answer.
func (e *ElsewhereError) Unwrap() error { return e.Otherwise }

// Journal durably records what a call is about to do.
type Journal interface {
	// Intend stores intent under the call's key and part unless one is stored. It
	// returns the stored intent. fresh is false if an earlier attempt stored it.
	Intend(ctx context.Context, part string, intent []byte) (stored []byte, fresh bool, err error)
}

// Call is one tool call.
type Call struct {
	Key       string          // unique, the same in every attempt: "turn.step.index"
	Session   string          // session key
	Attempt   int             // counted from 1; for logs only
	Tried     []string        // places where the call was sent: this one, or some that do not answer
	Arguments json.RawMessage // a JSON object
	Journal   Journal
	Progress  func(text string) // shows progress to people; may be nil
}

// Turn returns the ID of the turn that makes the call.
func (c Call) Turn() string {
	turn, _, _ := strings.Cut(c.Key, ".")
	return turn
}

// Result is a call's result for the model.
type Result struct {
	Text   string // of any size and encoding; the caller cuts and cleans it
	Failed bool   // the call failed, and Text says why
}

// Tool is a tool that a model can call.
type Tool struct {
	Spec     llm.ToolSpec
	Kind     Kind
	ReadOnly bool // may run in parallel with other read-only calls
	// Detached marks a call that waits for what goes on without it: a worker that stops
	// gives it up at once.
	Detached bool
	// Destructive marks a third-party tool that may destroy data.
	Destructive bool
	Timeout     time.Duration // of a call; 0 means one minute
	// Main names the argument that people are shown instead of all arguments; may be
	// empty.
	Main string
	// SubjectOf, if set, returns what a call with these arguments, which may be invalid, is
	// about, for approval rules. See [Tool.Subject].
	SubjectOf func(arguments json.RawMessage) Subject
	// TimeoutOf, if set, returns the timeout of a call with these arguments, which may
	// be invalid.
	TimeoutOf func(arguments json.RawMessage) time.Duration
	// Place, if set, is asked before a call is made. The error is an [ElsewhereError] if
	// the call belongs to another place, or as those of Run. A call that is underway was
	// begun here by an earlier attempt; Run joins it, even if the tool is [Once].
	Place func(ctx context.Context, call Call) (underway bool, err error)
	// Run makes one attempt at a call. The model reads its errors (bad arguments, no
	// such file), except those that wrap ctx's cause, [ErrRetry] or a temporary
	// remote.Error: then the call is retried.
	Run func(ctx context.Context, call Call) (Result, error)

	err error // why it cannot be used
}

// defaultTimeout applies to tools without a timeout.
const defaultTimeout = time.Minute

// Limit returns the timeout of a call with these arguments.
func (t Tool) Limit(arguments json.RawMessage) time.Duration {
	if t.TimeoutOf != nil {
		return t.TimeoutOf(arguments)
	}
	return cmp.Or(t.Timeout, defaultTimeout)
}

// Title returns what people are shown of a call: its main argument, or all.
func (t Tool) Title(arguments json.RawMessage) string {
	var values map[string]any
	if t.Main != "" && json.Unmarshal(arguments, &values) == nil {
		if text, ok := values[t.Main].(string); ok && text != "" {
			return text
		}
	}
	return string(arguments)
}

// ErrRetry marks a failure that the model cannot fix and a retry may: the store is
// unavailable, the disk is full.
var ErrRetry = errors.New("try again")

// New returns a tool whose arguments are the fields of Args: JSON tags name them,
// `jsonschema` tags describe them, and a field is required unless it has omitempty or
// omitzero. The first field is the main argument. Arguments are validated before run
// is called. [Tool.Err] and [Registry.Register] report an Args without a schema.
func New[Args any](name, description string, kind Kind, run func(context.Context, Call, Args) (Result, error)) Tool {
	t := Tool{Spec: llm.ToolSpec{Name: name, Description: strings.TrimSpace(description)}, Kind: kind}
	schema, err := jsonschema.For[Args](nil)
	if err != nil {
		return t.invalid(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return t.invalid(err)
	}
	sent := *schema
	sent.AdditionalProperties = nil // every call carries all schemas; decode rejects unknown arguments anyway
	if t.Spec.Parameters, err = json.Marshal(&sent); err != nil {
		return t.invalid(err)
	}
	if len(schema.PropertyOrder) > 0 {
		t.Main = schema.PropertyOrder[0]
	}
	t.Run = func(ctx context.Context, call Call) (Result, error) {
		var args Args
		if err := decode(resolved, call.Arguments, &args); err != nil {
			return Result{}, fmt.Errorf("invalid arguments for %s: %w", name, err)
		}
		return run(ctx, call, args)
	}
	return t
}

func (t Tool) invalid(err error) Tool {
	t.err = fmt.Errorf("tool %s: schema of its arguments: %w", t.Spec.Name, err)
	return t
}

// Err returns why the tool cannot be used; nil if it can.
func (t Tool) Err() error { return t.err }

func decode(schema *jsonschema.Resolved, arguments json.RawMessage, into any) error {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return err
	}
	return json.Unmarshal(arguments, into)
}
