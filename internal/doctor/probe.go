package doctor

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/gofrs/flock"
)

const (
	storeTimeout = 15 * time.Second
	apiTimeout   = 3 * time.Second
)

// held reports whether a process holds a lock file. It does not create the file.
func held(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	taken, err := lock.TryLock()
	if taken {
		_ = lock.Unlock()
	}
	return err == nil && !taken
}

// free returns an error if an address is not free to listen on.
func free(ctx context.Context, address string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		if operation, ok := errors.AsType[*net.OpError](err); ok {
			err = operation.Err
		}
		return err
	}
	return listener.Close()
}

// cause returns a file error without the path.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
