package node

import (
	"log/slog"
	"path/filepath"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
)

// OpenCommands returns the supervisor of the agent's commands on this machine.
func OpenCommands(cfg config.Config, log *slog.Logger) (*supervisor.Supervisor, error) {
	return supervisor.New(supervisor.Options{Dir: filepath.Join(cfg.DataDir(), "commands"), Logger: log})
}
