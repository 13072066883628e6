package memory

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/holdfast-ai/holdfast/internal/safefile"
)

const (
	lockFile = folder + "/.lock"
	lockPoll = 5 * time.Millisecond
)

// lock takes the workspace's lock, waiting for other Holdfast writers in this
// process and others on this machine. The kernel releases it when a process ends.
func lock(ctx context.Context, root *os.Root) (release func(), err error) {
	if err := makeFolder(root, folder); err != nil {
		return nil, fmt.Errorf("create the memory folder: %w", unusable(err))
	}
	for {
		f, err := safefile.TryLock(root, lockFile)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", lockFile, unusable(err))
		}
		if f != nil {
			return func() { _ = f.Close() }, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock of the memory: %w", context.Cause(ctx))
		case <-time.After(lockPoll):
		}
	}
}
