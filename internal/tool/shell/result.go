package shell

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// lostOutput is how much output a lost command is reported with, in bytes.
const lostOutput = 4000

// result tells the model of a command that has ended.
func result(process *supervisor.Process, exit supervisor.Exit, timeout time.Duration) (tool.Result, error) {
	output, total, err := process.Output(supervisor.DefaultMaxOutput)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	var text strings.Builder
	text.Write(output)
	note := func(format string, args ...any) {
		if text.Len() > 0 && !strings.HasSuffix(text.String(), "\n") {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "["+format+"]", args...)
	}
	if exit.Truncated {
		note("%d bytes in all; the rest was not kept", total)
	}
	if exit.TimedOut {
		note("timed out after %v", timeout)
	}
	if exit.Stopped {
		note("stopped")
	}
	switch {
	case exit.Error != "":
		note("could not be started: %s", exit.Error)
	case exit.Signal != "":
		note("exit status %d, %s", exit.Code, exit.Signal)
	case exit.Code >= 0:
		note("exit status %d", exit.Code)
	}
	return tool.Result{Text: text.String(), Failed: exit.Code != 0 || exit.TimedOut || exit.Stopped}, nil
}

// lost is the error for a command that nobody can tell the end of.
func lost(process *supervisor.Process) error {
	output, _, err := process.Output(lostOutput)
	if err != nil {
		return fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	if len(output) == 0 {
		return fmt.Errorf("%w (%w; it had written nothing)", tool.ErrOutcomeUnknown, supervisor.ErrLost)
	}
	return fmt.Errorf("%w (%w); it had written:\n%s", tool.ErrOutcomeUnknown, supervisor.ErrLost, output)
}
