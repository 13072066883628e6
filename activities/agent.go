// Package activities is where the world is: model calls, tool calls, deliveries.
// Workflows call the exported methods of its structs and nothing else; each may
// be tried again at any time, and finds in the store what it did before.
package activities

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/approval"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/price"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/skill"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// AgentOptions are what an [Agent] works with. All but Logger, Metrics and
// Supervisor are required.
type AgentOptions struct {
	Store       *store.Store
	Provider    llm.Provider
	Name        string // of the provider: "openai"
	Model       string // as the provider names it
	MaxTokens   int    // per completion
	Temperature float64
	Window      int // messages of earlier turns that the model sees
	// Models opens a model that a session was told to use, by its name as in Model's
	// title; nil: there is no other. Who made it closes it.
	Models    func(name string) (Model, error)
	Fallbacks []string // models that stand in, for people to see
	Tools     *tool.Registry
	// SubagentTools are the tools of subagents, by depth from 1.
	SubagentTools []*tool.Registry
	Prices        *price.Table     // nil: costs are not known
	Memory        *memory.Files    // nil: nothing is remembered
	Scope         memory.ScopeFunc // whose memory; required with Memory
	// Remember starts the consolidation of a memory scope; required with Memory.
	Remember    func(ctx context.Context, scope string) error
	Environment skill.Environment // in which skills look for what they require
	// Signal brings an accepted message to its session.
	Signal func(ctx context.Context, message domain.Inbound) error
	// Approvals says which calls a person is asked about; its zero value: none.
	Approvals approval.Policy
	// Decided tells a workflow that an approval which it may wait for was decided;
	// required with Approvals.
	Decided func(ctx context.Context, workflowID string, d protocol.ApprovalDecision) error
	// IsOperator reports whether who wrote by this route runs this, sees everybody's
	// jobs and may answer every question; nil: nobody does.
	IsOperator func(domain.Route) bool
	Jobs       JobOptions             // how scheduled prompts are run
	Supervisor *supervisor.Supervisor // whose commands a stopped turn ends; may be nil
	Events     event.Bus
	Gatherers  map[string]channels.Gatherer // channels whose messages need more from their platform, by name
	Outboxes   map[string]*Outbox           // deliveries of the push channels, by name
	Workspace  string                       // absolute path
	Metrics    *metrics.Metrics             // nil: nothing is counted
	Logger     *slog.Logger
}

// Agent has the activities of a turn. Its exported methods are activities.
type Agent struct {
	AgentOptions

	rests rests // memories that are left alone for now
}

// NewAgent returns the activities of a turn.
func NewAgent(o AgentOptions) (*Agent, error) {
	switch {
	case o.Store == nil, o.Provider == nil, o.Tools == nil, o.Events == nil:
		return nil, errors.New("agent: store, provider, tools and events are required")
	case !filepath.IsAbs(o.Workspace):
		return nil, errors.New("agent: the workspace needs an absolute path")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Agent{AgentOptions: o}, nil
}

// tools are those that a session's turns have.
func (a *Agent) tools(session domain.SessionRef) *tool.Registry {
	if session.Depth == 0 {
		return a.Tools
	}
	if session.Depth > len(a.SubagentTools) {
		return &tool.Registry{}
	}
	return a.SubagentTools[session.Depth-1]
}
