package command

import (
	"fmt"
	"path/filepath"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// newAgent makes the activities of a turn, with all its tools.
func (n *node) newAgent(outboxes map[string]*activities.Outbox) (*activities.Agent, error) {
	var err error
	if n.commands, err = supervisor.New(supervisor.Options{
		Dir: filepath.Join(n.cfg.DataDir(), "commands"), Logger: n.log,
	}); err != nil {
		return nil, err
	}
	shared, err := newTools(n.cfg, n.commands)
	if err != nil {
		return nil, err
	}
	spawn, err := activities.NewSpawnTool(n.store)
	if err != nil {
		return nil, fmt.Errorf("make the spawn tool: %w", err)
	}
	cron, err := n.jobs.Tool()
	if err != nil {
		return nil, fmt.Errorf("make the cron tool: %w", err)
	}
	own := append([]tool.Tool{spawn, cron}, shared...)
	if len(outboxes) > 0 {
		message, err := activities.NewMessageTool(n.store, outboxes, n.cfg.Workspace)
		if err != nil {
			return nil, fmt.Errorf("make the message tool: %w", err)
		}
		own = append(own, message)
	}
	tools, err := registry(own)
	if err != nil {
		return nil, err
	}
	subagents, err := n.subagentTools(shared, spawn)
	if err != nil {
		return nil, err
	}
	remembered, err := memory.New(memory.Options{Workspace: n.cfg.Workspace, Versions: versions{n.store}})
	if err != nil {
		return nil, fmt.Errorf("open the memory: %w", err)
	}
	return activities.NewAgent(activities.AgentOptions{
		Store: n.store, Events: n.events, Logger: n.log,
		Provider: n.model.provider, Name: n.model.service, Model: n.model.name,
		MaxTokens: n.cfg.Agent.MaxTokens, Temperature: n.cfg.Agent.Temperature, Window: n.cfg.Agent.MemoryWindow,
		Gatherers: n.gatherers(), Tools: tools, SubagentTools: subagents, Supervisor: n.commands,
		Workspace: n.cfg.Workspace, Signal: n.starter.Signal, Jobs: n.jobOptions(),
		Prices: prices(n.cfg), Memory: remembered, Scope: scopes(n.cfg.Memory), Remember: n.starter.Remember,
	})
}

// subagentTools are the tools of subagents, by depth: those that do not speak to
// anybody, and spawn for all but the deepest.
func (n *node) subagentTools(shared []tool.Tool, spawn tool.Tool) ([]*tool.Registry, error) {
	var all []*tool.Registry
	for depth := 1; depth <= n.cfg.Agent.SubagentDepth; depth++ {
		tools := shared
		if depth < n.cfg.Agent.SubagentDepth {
			tools = append([]tool.Tool{spawn}, shared...)
		}
		made, err := registry(tools)
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

func registry(tools []tool.Tool) (*tool.Registry, error) {
	made := &tool.Registry{}
	return made, made.Register(tools...)
}
