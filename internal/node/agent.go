package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/skill"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/message"
	"github.com/holdfast-ai/holdfast/internal/tool/recall"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
	"github.com/holdfast-ai/holdfast/internal/tool/spawn"
)

// newAgent returns the activities of a turn, with all tools.
func (n *Node) newAgent(outboxes map[string]*activities.Outbox) (*activities.Agent, error) {
	var err error
	if n.Commands, err = OpenCommands(n.Config, n.log); err != nil {
		return nil, err
	}
	remembered, err := memory.New(memory.Options{Workspace: n.Config.Workspace, Versions: n.Store})
	if err != nil {
		return nil, fmt.Errorf("open the memory: %w", err)
	}
	if n.Engine == nil { // other machines may write, too
		if err := memory.CheckFileSystem(n.Config.Workspace); err != nil {
			n.log.Warn("the workspace is not fit for several workers, see `holdfast doctor`", "workspace", n.Config.Workspace, "err", err)
		}
	}
	tools, subagents, err := n.registries(remembered, outboxes)
	if err != nil {
		return nil, err
	}
	approvals, err := n.Config.Approvals.Policy()
	if err != nil {
		return nil, err
	}
	for _, name := range approvals.Unmatched(tools.Names()) {
		n.log.Warn("an approval rule has no effect: no tool has this name", "tool", name, "tools", tools.Names())
	}
	transcribe, err := n.transcribe()
	if err != nil {
		return nil, err
	}
	others := &models{cfg: n.Config, log: n.log, metrics: n.metrics}
	n.onClose(others.close)
	return activities.NewAgent(activities.AgentOptions{
		Store: n.Store, Events: n.Events, Workspace: n.Config.Workspace,
		Model: activities.ModelOptions{
			Model: n.Model.Model, MaxTokens: n.Config.Agent.MaxTokens, Temperature: n.Config.Agent.Temperature, Window: n.Config.Agent.MemoryWindow,
			Open: others.open, Fallbacks: n.Config.Fallbacks, Prices: prices(n.Config),
		},
		Tools: activities.ToolOptions{
			Agent: tools, Subagents: subagents, Supervisor: n.Commands, Environment: SkillEnvironment(n.Config.Workspace),
		},
		Memory:    activities.MemoryOptions{Files: remembered, Scope: Scopes(n.Config.Memory), Consolidate: n.dispatcher.Consolidate},
		Approvals: activities.ApprovalOptions{Policy: approvals, Decided: n.dispatcher.SignalDecision},
		Jobs:      n.jobOptions(),
		Channels: activities.ChannelOptions{
			Enrichers: n.enrichers(), Outboxes: outboxes, Signal: n.dispatcher.Signal, IsOperator: isOperator,
			Settings: chatSettings(n.Config.Channels), Transcribe: transcribe,
		},
		Metrics: n.metrics, Logger: n.log,
	})
}

// registries returns the tools of the agent and, by depth, of its subagents. Subagents
// cannot send messages or schedule jobs; the deepest cannot spawn.
func (n *Node) registries(remembered *memory.Files, outboxes map[string]*activities.Outbox) (*tool.Registry, []*tool.Registry, error) {
	shared, err := newTools(n.Config, n.Commands, n.Store, remembered)
	if err != nil {
		return nil, nil, err
	}
	spawner, own := spawn.New(n.Store), n.ownTools(remembered, outboxes)
	servers, err := n.openMCP()
	if err != nil {
		return nil, nil, err
	}
	registry := func(tools ...[]tool.Tool) (*tool.Registry, error) {
		made := &tool.Registry{}
		if servers != nil {
			made.AddSource(servers)
		}
		return made, made.Register(slices.Concat(tools...)...)
	}
	agent, err := registry(shared, own, []tool.Tool{spawner})
	if err != nil {
		return nil, nil, err
	}
	subagents := make([]*tool.Registry, n.Config.Agent.SubagentDepth)
	for i := range subagents {
		var deeper []tool.Tool
		if i+1 < len(subagents) {
			deeper = []tool.Tool{spawner}
		}
		if subagents[i], err = registry(shared, deeper); err != nil {
			return nil, nil, err
		}
	}
	return agent, subagents, nil
}

// ownTools returns the tools that subagents do not have.
func (n *Node) ownTools(remembered *memory.Files, outboxes map[string]*activities.Outbox) []tool.Tool {
	own := []tool.Tool{
		n.Jobs.Tool(),
		recall.New(recall.Options{Store: n.Store, History: remembered, Scope: Scopes(n.Config.Memory)}),
	}
	if len(outboxes) > 0 {
		deliveries := map[string]message.Outbox{}
		for name, outbox := range outboxes {
			deliveries[name] = activities.MessageOutbox(outbox)
		}
		own = append(own, message.New(message.Options{Store: n.Store, Outboxes: deliveries, Workspace: n.Config.Workspace}))
	}
	return own
}

// SkillEnvironment is the environment in which requirements of skills are checked: that
// of the agent's commands, not of this process.
func SkillEnvironment(workspace string) skill.Environment {
	values := map[string]string{}
	for _, line := range shell.Environment(workspace) {
		name, value, _ := strings.Cut(line, "=")
		values[name] = value
	}
	return skill.Environment{LookupEnv: func(name string) (string, bool) {
		value, found := values[name]
		return value, found
	}}
}

// chatSettings returns the settings of chats; nil if none has any.
func chatSettings(c config.Channels) func(domain.Route) activities.ChatSettings {
	if len(c.Chats) == 0 {
		return nil
	}
	return func(r domain.Route) activities.ChatSettings {
		chat, _ := c.Chat(r.Channel, r.Chat)
		return activities.ChatSettings{Model: chat.Model, Tools: chat.Tools, Approvers: chat.Approvers, Prompt: chat.Prompt}
	}
}
