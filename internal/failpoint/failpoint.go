//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// reached counts how often the named point was reached.
var reached struct {
	sync.Mutex
	point string // with its number, as named
	times int64
}

// Hit kills the process, as kill -9 does, if this is the named point.
func Hit(name string) {
	named := os.Getenv(Variable)
	if path, is := strings.CutPrefix(named, "@"); is {
		content, _ := os.ReadFile(path) // without a file, there is no point
		named = string(content)
	}
	point, nth, _ := strings.Cut(named, ":")
	if point != name {
		return
	}
	n, err := strconv.ParseInt(nth, 10, 64)
	if err != nil {
		n = 1
	}
	reached.Lock()
	defer reached.Unlock()
	if reached.point != named {
		reached.point, reached.times = named, 0
	}
	if reached.times++; reached.times != n {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal arrives
}
