package shell

import (
	"bytes"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const lostOutput = 4000 // bytes at the end of a lost command's output to report

// result returns the tool result for a command that has ended.
func result(process *supervisor.Process, exit supervisor.Exit, timeout time.Duration) (tool.Result, error) {
	output, err := process.Output(0)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	var notes []string
	if exit.Truncated {
		notes = append(notes, fmt.Sprintf("%d bytes in total; the rest was not kept", exit.OutputBytes))
	}
	if exit.TimedOut {
		notes = append(notes, fmt.Sprintf("timed out after %v", timeout))
	}
	if exit.Stopped {
		notes = append(notes, "stopped")
	}
	if status := status(exit); status != "" {
		notes = append(notes, status)
	}
	return tool.Result{Text: annotate(output, notes...), Failed: failed(exit)}, nil
}

func failed(exit supervisor.Exit) bool { return exit.Code != 0 || exit.TimedOut || exit.Stopped }

// status describes how the command ended; empty if it never started.
func status(exit supervisor.Exit) string {
	switch {
	case exit.Error != "":
		return "could not be started: " + exit.Error
	case exit.Signal != "":
		return fmt.Sprintf("exit status %d, %s", exit.Code, exit.Signal)
	case exit.Code >= 0:
		return fmt.Sprintf("exit status %d", exit.Code)
	}
	return ""
}

// annotate appends notes to a command's output.
func annotate(output []byte, notes ...string) string {
	text := bytes.NewBuffer(output)
	if len(output) > 0 && output[len(output)-1] != '\n' {
		text.WriteByte('\n')
	}
	for i, note := range notes {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString("[" + note + "]")
	}
	return text.String()
}

// lost returns the error for a command whose end is unknown.
func lost(process *supervisor.Process) error {
	output, err := process.Output(0)
	if err != nil {
		return fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	if len(output) == 0 {
		return fmt.Errorf("%w (%w; no output)", tool.ErrOutcomeUnknown, supervisor.ErrLost)
	}
	return fmt.Errorf("%w (%w); the end of its output:\n%s", tool.ErrOutcomeUnknown, supervisor.ErrLost,
		output[max(0, len(output)-lostOutput):])
}
