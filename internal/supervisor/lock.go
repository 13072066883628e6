package supervisor

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// The lock is a POSIX record lock. Unlike with flock(2), children do not inherit it,
// so no background process can keep it, and it can be tested without taking it, so a
// test never looks like another supervisor.

// errHeld reports that another supervisor holds the lock.
var errHeld = errors.New("locked")

// lock takes the lock until the closer is closed or the process ends. The process
// must not open the file elsewhere, since closing it there would release the lock.
func (e entry) lock() (io.Closer, error) {
	f, err := os.OpenFile(e.path(lockFile), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EAGAIN) {
		err = errHeld
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// locked reports whether another process holds the lock.
func (e entry) locked() bool {
	f, err := os.OpenFile(e.path(lockFile), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	found := unix.Flock_t{Type: unix.F_WRLCK}
	return unix.FcntlFlock(f.Fd(), unix.F_GETLK, &found) == nil && found.Type != unix.F_UNLCK
}
