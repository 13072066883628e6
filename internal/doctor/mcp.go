package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"

	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/tool/mcp"
)

// checkMCP lists the tools of each configured MCP server.
func (d *doctor) checkMCP(ctx context.Context) {
	configured := d.cfg.Tools.MCP.Servers
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		setting := "tools.mcp.servers." + name
		reason := &lastWarning{}
		servers, err := mcp.New(mcp.Options{ //nolint:contextcheck // closed below
			Servers: []mcp.Server{node.MCPServer(name, configured[name])}, Dir: node.MCPDir(d.cfg), Version: build.Version, Logger: reason.logger(),
		})
		if err != nil {
			d.fail("mcp", "correct "+setting, "%v", err)
			continue
		}
		tools := servers.Tools(ctx)
		servers.Close()
		if len(tools) == 0 {
			d.fail("mcp", "check "+setting+", and run its command or open its URL yourself",
				"%s lists no tools within 3 seconds%s; the agent runs without them", name, reason.text())
			continue
		}
		d.ok("mcp", "%s lists %d tools", name, len(tools))
	}
}

// lastWarning is a writer for a logger. It must be read only after logging has ended.
type lastWarning struct{ bytes.Buffer }

func (l *lastWarning) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// text returns the last warning or error in parentheses, or "" if there was none.
func (l *lastWarning) text() string {
	lines := bytes.Split(bytes.TrimSpace(l.Bytes()), []byte("\n"))
	var record struct{ Msg, Err string }
	if json.Unmarshal(lines[len(lines)-1], &record) != nil {
		return ""
	}
	if record.Err != "" {
		record.Msg += ": " + record.Err
	}
	return " (" + record.Msg + ")"
}
