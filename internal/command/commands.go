package command

import (
	"log/slog"
	"path/filepath"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
)

// openCommands returns what the agent's commands run under on this machine.
func openCommands(cfg config.Config, log *slog.Logger) (*supervisor.Supervisor, error) {
	return supervisor.New(supervisor.Options{Dir: filepath.Join(cfg.DataDir(), "commands"), Logger: log})
}
