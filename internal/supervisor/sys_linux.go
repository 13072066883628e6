package supervisor

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// commandAttributes makes the command a process group of its own that does not
// outlive its supervisor: nothing would enforce its timeout any more.
func commandAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when cmd's process has ended, and does not reap it: its
// process group keeps its ID until then.
func awaitExit(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
