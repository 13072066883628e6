//go:build !linux

package mcp

import (
	"os/exec"
	"syscall"
)

// attributes makes a server's process a group of its own. It learns that we are
// gone from the end of its input.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// awaitExit returns when cmd's process has ended.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }
