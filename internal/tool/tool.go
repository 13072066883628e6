// Package tool has the agent's tools as data: what the model is told of one, how
// it may be retried, and the function that runs it. Its subpackages are the tools.
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

// Kind says what a retry of a call may do when its worker was lost.
type Kind string

// The kinds of tools.
const (
	Repeatable Kind = "repeatable" // may simply run again: it changes nothing, or the same thing again
	Keyed      Kind = "keyed"      // recognises by the call's key, through its [Journal], what it did already
	Once       Kind = "once"       // never runs again; a lost outcome is told to the model as unknown
)

// ErrOutcomeUnknown is returned by a tool that cannot tell whether the call, or an
// earlier attempt at it, took effect. The model is told so; nothing is redone.
var ErrOutcomeUnknown = errors.New("outcome unknown: the call was interrupted and may or may not have taken effect; check before doing it again")

// Journal remembers, durably and before the effect, what a call is about to do.
type Journal interface {
	// Intend stores intent under the call's key and part, unless there is one
	// already. It returns what is stored, and whether this attempt stored it.
	// When fresh is false an earlier attempt got at least this far.
	Intend(ctx context.Context, part string, intent []byte) (stored []byte, fresh bool, err error)
}

// Call is one tool call as a tool sees it.
type Call struct {
	Key       string          // unique for ever and the same in every attempt: "turn.step.index"
	Session   string          // session key
	Attempt   int             // 1 for the first; a hint for logs, no fence
	Arguments json.RawMessage // a JSON object
	Journal   Journal
	Progress  func(text string) // shows a person what goes on; may be nil; never durable
}

// Turn returns the ID of the turn that makes the call.
func (c Call) Turn() string {
	turn, _, _ := strings.Cut(c.Key, ".")
	return turn
}

// Result is a tool's answer to the model.
type Result struct {
	Text   string // may be large and need not be UTF-8: the caller cuts and cleans it
	Failed bool   // the call did not do what was asked, and Text says why
}

// Tool is a tool that a model can call.
type Tool struct {
	Spec     llm.ToolSpec
	Kind     Kind
	ReadOnly bool // changes nothing: may run beside other read-only calls
	// Destructive is set for a tool of somebody else's that may destroy something.
	Destructive bool
	Timeout     time.Duration // the longest a call may take; 0 means one minute
	// Main names the argument that says most about a call, "" if there is none:
	// a person is shown it in place of the arguments.
	Main string
	// TimeoutOf, if set, gives the longest time for a call with these arguments
	// instead. It must accept anything.
	TimeoutOf func(arguments json.RawMessage) time.Duration
	// Run makes one attempt at a call. Errors are for the model to read (bad
	// arguments, no such file), except: one that wraps ctx's cause, one that wraps
	// [ErrRetry], and a temporary remote.Error, after which the call is tried again.
	Run func(ctx context.Context, call Call) (Result, error)
}

// defaultTimeout is the longest a call may take when the tool does not say.
const defaultTimeout = time.Minute

// Limit is the longest that a call with these arguments may take.
func (t Tool) Limit(arguments json.RawMessage) time.Duration {
	if t.TimeoutOf != nil {
		return t.TimeoutOf(arguments)
	}
	return cmp.Or(t.Timeout, defaultTimeout)
}

// Title is what a person is shown of a call's arguments: the main one, or all.
func (t Tool) Title(arguments json.RawMessage) string {
	var values map[string]any
	if t.Main != "" && json.Unmarshal(arguments, &values) == nil {
		if text, ok := values[t.Main].(string); ok && text != "" {
			return text
		}
	}
	return string(arguments)
}

// ErrRetry marks an attempt that failed for a reason the model can do nothing
// about (the store is away, the disk is full) and that another attempt may cure.
var ErrRetry = errors.New("try again")

// New returns a tool whose arguments are described by the struct type Args: its
// JSON tags name them, `jsonschema` tags describe them, and a field is required
// unless it has omitempty or omitzero. The first field is the main argument.
// Arguments are validated before run is called.
func New[Args any](name, description string, kind Kind, run func(context.Context, Call, Args) (Result, error)) (Tool, error) {
	schema, err := jsonschema.For[Args](nil)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %s: schema: %w", name, err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %s: resolve schema: %w", name, err)
	}
	sent := *schema
	sent.AdditionalProperties = nil // every call carries all schemas; decode rejects unknown arguments anyway
	parameters, err := json.Marshal(&sent)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %s: encode schema: %w", name, err)
	}
	main := ""
	if len(schema.PropertyOrder) > 0 {
		main = schema.PropertyOrder[0]
	}
	return Tool{
		Spec: llm.ToolSpec{Name: name, Description: strings.TrimSpace(description), Parameters: parameters},
		Kind: kind,
		Main: main,
		Run: func(ctx context.Context, call Call) (Result, error) {
			var args Args
			if err := decode(resolved, call.Arguments, &args); err != nil {
				return Result{}, fmt.Errorf("invalid arguments for %s: %w", name, err)
			}
			return run(ctx, call, args)
		},
	}, nil
}

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
