package command

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// TestChatProgress checks what a terminal shows during a model call.
func TestChatProgress(t *testing.T) {
	t.Parallel()
	h := newHome(t, echo(t).URL)
	frame := regexp.MustCompile("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] 0:0")
	for _, logs := range []bool{false, true} {
		cmd := h.chat(t.Context(), t, "-m", "hi", fmt.Sprintf("--logs=%t", logs))
		terminal, tty, err := pty.Open()
		require.NoError(t, err)
		cmd.Stderr = tty
		shown := make(chan string, 1)
		go func() {
			data, _ := io.ReadAll(terminal) // ends with an error on Linux
			shown <- string(data)
		}()
		out, err := cmd.Output()
		require.NoError(t, err)
		require.NoError(t, tty.Close())
		require.Regexp(t, `^echo \d\n$`, string(out))
		text := <-shown
		require.NoError(t, terminal.Close())
		require.Equal(t, !logs, frame.MatchString(text), text)
		require.Equal(t, logs, strings.Contains(text, "INFO"), text)
	}
}
