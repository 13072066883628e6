//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

var reached atomic.Int64

// Hit kills the process, as kill -9 does, if this is the named point.
func Hit(name string) {
	point, nth, _ := strings.Cut(os.Getenv(Variable), ":")
	if point != name {
		return
	}
	n, err := strconv.ParseInt(nth, 10, 64)
	if err != nil {
		n = 1
	}
	if reached.Add(1) != n {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal arrives
}
