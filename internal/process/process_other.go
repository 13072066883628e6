//go:build !linux

package process

import (
	"os/exec"
	"syscall"
)

// Attributes puts a child into its own process group.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// AwaitExit returns when cmd's process has exited.
func AwaitExit(cmd *exec.Cmd) { Reap(cmd) }
