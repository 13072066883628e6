package supervisor

import (
	"os"

	"golang.org/x/sys/unix"
)

// watch returns a channel that signals when a file of the entry was created or
// deleted, or its input grew; nil if inotify is not available. It is never closed:
// closing inotify would delay the end of every short command.
func watch(e entry) <-chan struct{} {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	events := os.NewFile(uintptr(fd), "inotify")
	_, err = unix.InotifyAddWatch(fd, e.dir, unix.IN_CREATE|unix.IN_DELETE|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF)
	if err == nil && e.exists(inputFile) {
		_, err = unix.InotifyAddWatch(fd, e.path(inputFile), unix.IN_MODIFY)
	}
	if err != nil {
		events.Close()
		return nil
	}
	changed := make(chan struct{}, 1)
	go func() {
		for buffer := make([]byte, 4096); ; {
			if _, err := events.Read(buffer); err != nil {
				return
			}
			wake(changed)
		}
	}()
	return changed
}
