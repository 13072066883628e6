// Package activities has the Temporal activities: model calls, tool calls, deliveries.
// They are the exported methods of its structs. Each may be retried at any time and finds
// in the store what an earlier attempt did.
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
	"github.com/holdfast-ai/holdfast/internal/llm/price"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/skill"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// AgentOptions are the dependencies of an [Agent]. Metrics and Logger are optional.
type AgentOptions struct {
	Store     *store.Store
	Events    event.Bus
	Workspace string // absolute path
	Model     ModelOptions
	Tools     ToolOptions
	Memory    MemoryOptions
	Approvals ApprovalOptions
	Jobs      JobOptions
	Channels  ChannelOptions
	Metrics   *metrics.Metrics
	Logger    *slog.Logger
}

// ModelOptions are the default model and how it is called.
type ModelOptions struct {
	Model
	MaxTokens   int // per completion
	Temperature float64
	Window      int // messages of earlier turns sent to the model
	// Open returns the model a session was switched to, by its title; nil disables
	// switching. The caller of [NewAgent] closes the models.
	Open      func(title string) (Model, error)
	Fallbacks []string     // titles of the fallback models, to display
	Prices    *price.Table // nil if costs are unknown
}

// ToolOptions are the tools of the agent and what they run in.
type ToolOptions struct {
	Agent       *tool.Registry
	Subagents   []*tool.Registry       // by depth, starting at 1
	Supervisor  *supervisor.Supervisor // of the commands that stopping a turn kills; may be nil
	Environment skill.Environment      // for checking the requirements of skills
}

// MemoryOptions are the long-term memory. The zero value disables it.
type MemoryOptions struct {
	Files *memory.Files
	Scope memory.ScopeFunc
	// Consolidate starts the consolidation of a memory scope.
	Consolidate func(ctx context.Context, scope string) error
}

// ApprovalOptions say which tool calls need an approval. The zero value requires none.
type ApprovalOptions struct {
	Policy approval.Policy
	// Decided tells a workflow that an approval it may wait for was decided.
	Decided func(ctx context.Context, workflowID string, d protocol.ApprovalDecision) error
}

// ChannelOptions connect the agent to the channels.
type ChannelOptions struct {
	Enrichers map[string]channels.Enricher // by channel name
	Outboxes  map[string]*Outbox           // of the push channels, by channel name
	// Transcribe returns what is said in an audio file; nil: audio is not transcribed.
	// Failed calls are remote.Errors.
	Transcribe func(ctx context.Context, name string, audio []byte) (string, error)
	// Signal delivers an accepted message to its session's workflow.
	Signal func(ctx context.Context, message domain.Inbound) error
	// IsOperator reports whether a route is the operator's, who sees all jobs and may
	// decide all approvals; nil if there is no operator.
	IsOperator func(domain.Route) bool
	// Settings returns the settings of a chat; nil if none has any.
	Settings func(domain.Route) ChatSettings
}

// Agent has the activities of a turn. Its exported methods are activities.
type Agent struct {
	AgentOptions

	cooldowns cooldowns // of memory scopes
}

// NewAgent returns the activities of a turn.
func NewAgent(o AgentOptions) (*Agent, error) {
	switch {
	case o.Store == nil, o.Model.Provider == nil, o.Tools.Agent == nil, o.Events == nil:
		return nil, errors.New("agent: store, provider, tools and events are required")
	case !filepath.IsAbs(o.Workspace):
		return nil, errors.New("agent: the workspace needs an absolute path")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Agent{AgentOptions: o}, nil
}

// tools returns the tools of a session.
func (a *Agent) tools(session domain.SessionRef) *tool.Registry {
	if session.Depth == 0 {
		return a.Tools.Agent
	}
	if session.Depth > len(a.Tools.Subagents) {
		return &tool.Registry{}
	}
	return a.Tools.Subagents[session.Depth-1]
}
