package activities

import (
	"cmp"
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/approval"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// ChatSettings are the settings of a chat that differ from the usual ones. They also apply
// to the jobs and subagents that work for it. What is empty is as usual.
type ChatSettings struct {
	Model     string   // as /model takes it
	Tools     []string // names or patterns of the tools; empty: all
	Approvers []string // CHANNEL:SENDER
	Prompt    string   // instructions in the system prompt
}

// settings returns the settings of the chat that a turn works for.
func (a *Agent) settings(ctx context.Context, turn string) (ChatSettings, error) {
	if a.Channels.Settings == nil {
		return ChatSettings{}, nil
	}
	route, err := a.Store.Origin(ctx, turn)
	if err != nil {
		return ChatSettings{}, fmt.Errorf("look up the chat of turn %s: %w", turn, err)
	}
	return a.Channels.Settings(route), nil
}

// toolsOf returns the tools that a turn has.
func (a *Agent) toolsOf(ctx context.Context, session domain.SessionRef, turn string) (*tool.Registry, error) {
	settings, err := a.settings(ctx, turn)
	if err != nil || len(settings.Tools) == 0 {
		return a.tools(session), err
	}
	return a.tools(session).Only(settings.Tools), nil
}

// modelIn returns the model of a turn: the one chosen for its session, that of its chat, or
// the configured one.
func (a *Agent) modelIn(ctx context.Context, turn domain.Turn) (Model, error) {
	settings, err := a.settings(ctx, turn.ID)
	if err != nil {
		return Model{}, err
	}
	turn.Model = cmp.Or(turn.Model, settings.Model)
	return a.modelOf(turn)
}

// approvals returns the policy for questions that are asked in a chat.
func (a *Agent) approvals(where domain.Route) approval.Policy {
	if a.Channels.Settings == nil {
		return a.Approvals.Policy
	}
	return a.Approvals.Policy.WithApprovers(a.Channels.Settings(where).Approvers)
}
