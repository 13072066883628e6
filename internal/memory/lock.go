package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
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
		f, err := tryLock(root)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", lockFile, err)
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

// tryLock returns the lock, or nil if somebody else holds it.
func tryLock(root *os.Root) (*os.File, error) {
	f, mine, err := openRegular(root, lockFile, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, unusable(err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	// Some file systems have no locks; do without there.
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		// A lock on a removed file excludes no one.
		named, err := root.Stat(lockFile)
		if err == nil && os.SameFile(mine, named) {
			return f, nil
		}
		return nil, f.Close()
	}
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, f.Close()
	}
	return nil, errors.Join(err, f.Close())
}
