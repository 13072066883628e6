package node

import (
	"fmt"
	"slices"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/fs"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
	"github.com/holdfast-ai/holdfast/internal/tool/web"
)

// newTools returns the tools shared by the agent and its subagents.
func newTools(cfg config.Config, commands *supervisor.Supervisor, places shell.Places, remembered fs.Memory) ([]tool.Tool, error) {
	files, err := fs.New(fs.Options{Workspace: cfg.Workspace, Restrict: cfg.Tools.RestrictToWorkspace, Memory: remembered})
	if err != nil {
		return nil, fmt.Errorf("make the file tools: %w", err)
	}
	options := shell.Options{
		Supervisor: commands, Places: places, Workspace: cfg.Workspace, Restrict: cfg.Tools.RestrictToWorkspace,
		Timeout: cfg.Tools.Exec.Timeout, MaxTimeout: cfg.Tools.Exec.MaxTimeout, Lifetime: cfg.Tools.Exec.SessionLifetime,
	}
	exec, err := shell.New(options)
	if err != nil {
		return nil, fmt.Errorf("make the exec tool: %w", err)
	}
	sessions, err := shell.NewSessions(options)
	if err != nil {
		return nil, fmt.Errorf("make the exec session tools: %w", err)
	}
	sites, err := web.New(web.Options{Search: searchOf(cfg.Tools.Web)})
	if err != nil {
		return nil, fmt.Errorf("make the web tools: %w", err)
	}
	return slices.Concat(files, sites, []tool.Tool{exec}, sessions), nil
}

func searchOf(c config.Web) web.Search {
	return web.Search{
		Backend:    c.Search,
		Brave:      web.Service{BaseURL: c.Brave.BaseURL, APIKey: c.Brave.APIKey.Reveal()},
		Tavily:     web.Service{BaseURL: c.Tavily.BaseURL, APIKey: c.Tavily.APIKey.Reveal()},
		SearXNG:    web.Service{BaseURL: c.SearXNG.BaseURL},
		DuckDuckGo: web.Service{BaseURL: c.DuckDuckGo.BaseURL},
	}
}
