// Package process starts child processes that die with this one, in process groups
// that can be signalled safely.
package process

import "os/exec"

// Reap waits for cmd's process and releases its ID. Unlike [exec.Cmd.Wait] it leaves
// cmd's pipes open, so that unread output is not lost.
func Reap(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		cmd.ProcessState, _ = cmd.Process.Wait()
	}
}
