package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCommandsBesideAChatThatHosts runs other commands while `chat -m` runs everything
// itself and waits for an approval: they use it, and `up` says at once who is in the way.
func TestCommandsBesideAChatThatHosts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	h := askingHome(t)
	host := h.chat(ctx, t, "-m", "push it", "--session", "one")
	host.Stderr = nil
	notes, err := host.StderrPipe()
	require.NoError(t, err)
	out, err := host.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	lines := bufio.NewScanner(notes)
	require.True(t, lines.Scan())
	require.Equal(t, "waiting for approval: exec: echo pushed", lines.Text())
	require.True(t, lines.Scan())
	id, _, found := strings.Cut(strings.TrimPrefix(lines.Text(), "answer with `holdfast approvals approve "), "`")
	require.True(t, found)

	began := time.Now()
	up, err := h.holdfast(ctx, t, "up")
	require.Error(t, err)
	require.Contains(t, up.err, fmt.Sprintf("`holdfast chat` is already running on %s: process %d", h.dir, host.Process.Pid))
	require.Contains(t, up.err, "leave that chat first")
	t.Logf("up refused after %v", time.Since(began))
	require.Less(t, time.Since(began), 5*time.Second)

	began = time.Now()
	second, err := h.holdfast(ctx, t, "chat", "-m", "/help", "--session", "two")
	require.NoError(t, err, second.err)
	require.Contains(t, second.out, "/stop")
	t.Logf("second chat answered after %v", time.Since(began))
	jobs, err := h.holdfast(ctx, t, "jobs", "add", "--every", "2h", "-m", "water the plants")
	require.NoError(t, err, jobs.err)
	require.Contains(t, jobs.out, "added ")

	approved, err := h.holdfast(ctx, t, "approvals", "approve", id)
	require.NoError(t, err, approved.err)
	reply, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, host.Wait())
	require.Contains(t, string(reply), "pushed\n[exit status 0]")
}
