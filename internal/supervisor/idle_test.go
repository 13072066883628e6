//go:build linux

package supervisor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The supervisor of a command that is idle for hours must be idle, too.
func TestIdleSupervisorSleeps(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	p := start(t, s, talk("t.1.0", `echo "$PPID"; exec cat`))
	eventually(t, func() bool { return output(t, p) != "" }, "the command runs")
	supervisor := strings.TrimSpace(output(t, p))

	before := wakeups(t, supervisor)
	<-time.After(2 * time.Second) // for how long it is watched is the point
	woke := wakeups(t, supervisor) - before

	require.Less(t, woke, 400, "it polls: looking 50 times a second wakes several threads each time")
	require.NoError(t, p.Write("a", []byte("still there\n"), false))
	shows(t, p, supervisor+"\nstill there\n")
}

func TestSleepingSupervisorWakesImmediately(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	p := start(t, s, talk("t.1.0", "cat"))
	want, began := "", time.Now()
	for i := range 20 {
		line := fmt.Sprintln("line", i)
		want += line
		require.NoError(t, p.Write(strconv.Itoa(i), []byte(line), false))
		shows(t, p, want)
	}
	require.Less(t, time.Since(began), 15*time.Second, "looking once a second takes 20")
}

var switches = regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s*(\d+)$`)

// wakeups returns how often the threads of a process have gone to sleep.
func wakeups(t *testing.T, pid string) (total int) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%s/task/*/status", pid))
	require.NoError(t, err)
	require.NotEmpty(t, threads)
	for _, thread := range threads {
		status, err := os.ReadFile(thread)
		require.NoError(t, err)
		found := switches.FindSubmatch(status)
		require.NotNil(t, found)
		n, err := strconv.Atoi(string(found[1]))
		require.NoError(t, err)
		total += n
	}
	return total
}
