//go:build !linux

package supervisor

import (
	"os/exec"
	"syscall"
)

// commandAttributes makes the command a process group of its own.
func commandAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// awaitExit returns when cmd's process has ended.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

// watch returns nil: nothing here tells when a file changed.
func watch(entry) <-chan struct{} { return nil }
