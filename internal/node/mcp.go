package node

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/tool/mcp"
)

// openMCP connects to the configured MCP servers in the background; nil if there are
// none.
func (n *Node) openMCP() (*mcp.Servers, error) {
	configured := n.Config.Tools.MCP.Servers
	if len(configured) == 0 {
		return nil, nil //nolint:nilnil // no servers
	}
	options := mcp.Options{Dir: MCPDir(n.Config), Version: build.Version, Logger: n.log.With("component", "mcp")}
	if n.Engine == nil { // other workers may run beside
		options.Places, options.Place = n.Store, n.Commands.Place()
	}
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		options.Servers = append(options.Servers, MCPServer(name, configured[name]))
	}
	servers, err := mcp.New(options)
	if err != nil {
		return nil, fmt.Errorf("open the MCP servers (tools.mcp.servers): %w", err)
	}
	n.onClose(func() { servers.Close() })
	n.servers = servers
	return servers, nil
}

// recordTimeout bounds the time to record that this process's MCP servers end.
const recordTimeout = 5 * time.Second

// leaveServers lets conversations go to the MCP servers of other processes, before this one
// stops to take their calls.
func (n *Node) leaveServers() {
	if n.servers == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	if err := n.servers.Leave(ctx); err != nil {
		n.log.Warn("conversations still come to the MCP servers of this process, which stops", "err", err)
	}
}

// MCPDir is the directory of the MCP servers' own folders.
func MCPDir(c config.Config) string { return filepath.Join(c.DataDir(), "mcp") }

// MCPServer returns the options of a configured MCP server, with its secrets revealed.
func MCPServer(name string, s config.MCPServer) mcp.Server {
	return mcp.Server{
		Name: name, Command: s.Command, Args: s.Args, Env: revealed(s.Env), Dir: s.Dir,
		URL: s.URL, Headers: revealed(s.Headers), Timeout: s.Timeout, Tools: s.Tools,
	}
}

func revealed(secrets map[string]config.Secret) map[string]string {
	values := make(map[string]string, len(secrets))
	for name, secret := range secrets {
		values[name] = secret.Reveal()
	}
	return values
}
