package supervisor

import (
	"os"

	"golang.org/x/sys/unix"
)

// watch returns a channel that has something in it after a file of the entry came
// or went, or its input grew, and a function that ends that; nil if the kernel
// cannot tell, for want of watches for instance.
func watch(e entry) (changed <-chan struct{}, end func()) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, func() {}
	}
	events := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, e.dir, unix.IN_CREATE|unix.IN_DELETE|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF); err != nil {
		events.Close()
		return nil, func() {}
	}
	if e.exists(inputFile) {
		if _, err := unix.InotifyAddWatch(fd, e.path(inputFile), unix.IN_MODIFY); err != nil {
			events.Close()
			return nil, func() {}
		}
	}
	some := make(chan struct{}, 1)
	go func() {
		for buffer := make([]byte, 4096); ; {
			if _, err := events.Read(buffer); err != nil {
				return
			}
			wake(some)
		}
	}()
	return some, func() { events.Close() }
}
