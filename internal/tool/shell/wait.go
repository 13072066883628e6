package shell

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
)

const progressInterval = 500 * time.Millisecond

// wait waits for the command, showing its last line in the meantime.
func wait(ctx context.Context, process *supervisor.Process, show func(string)) (supervisor.Exit, error) {
	if show == nil {
		return process.Wait(ctx)
	}
	var group sync.WaitGroup
	defer group.Wait()
	watching, done := context.WithCancel(ctx)
	defer done()
	group.Go(func() { progress(watching, process, show) })
	return process.Wait(ctx)
}

func progress(ctx context.Context, process *supervisor.Process, show func(string)) {
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	shown := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if line := process.LastLine(); line != "" && line != shown {
				show(line)
				shown = line
			}
		}
	}
}
