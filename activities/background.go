package activities

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
)

// background returns the session's commands that keep running between its turns on
// this machine.
func (a *Agent) background(ctx context.Context, session string) ([]supervisor.Info, error) {
	if a.Tools.Supervisor == nil {
		return nil, nil
	}
	running, err := shell.Background(ctx, a.Store, a.Tools.Supervisor, session)
	if err != nil {
		return nil, fmt.Errorf("list running commands: %w", err)
	}
	return running, nil
}

// stopBackground stops the session's background commands and reports whether there
// were any. A message that was already answered stops nothing: commands that run
// now were started after it.
func (a *Agent) stopBackground(ctx context.Context, message domain.Inbound) (stopped bool, err error) {
	if message.Turn != "" {
		return false, nil
	}
	running, err := a.background(ctx, message.Session)
	if err != nil || len(running) == 0 {
		return false, err
	}
	var keys []string
	for _, command := range running {
		keys = append(keys, command.Key)
	}
	if err := a.Tools.Supervisor.Stop(ctx, keys...); err != nil {
		return false, fmt.Errorf("stop running commands: %w", err)
	}
	return true, nil
}

// listBackground lists the session's background commands for /status, one per line.
func (a *Agent) listBackground(ctx context.Context, session string) string {
	running, err := a.background(ctx, session)
	if err != nil {
		return "\n(cannot read the running commands: " + err.Error() + ")"
	}
	var b strings.Builder
	for _, command := range running {
		fmt.Fprintf(&b, "\n- command `%s`, started %v ago: %s", command.Key, time.Since(command.StartedAt).Round(time.Second),
			brief(command.Command))
	}
	return b.String()
}
