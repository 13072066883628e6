package command

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	temporal "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// pusher is a model that runs a command and reports its result.
func pusher(t *testing.T) *llmtest.Server {
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if results := r.Results(); len(results) > 0 {
			return llmtest.Text(results[len(results)-1])
		}
		return llmtest.Calls(llmtest.Call{ID: "c", Name: "exec", Arguments: `{"command":"echo pushed"}`})
	})
}

// askingHome is a home where every command needs approval.
func askingHome(t *testing.T) *home {
	h := newHome(t, pusher(t).URL)
	h.environ = append(h.environ, "HOLDFAST_APPROVALS_RULES=ask exec")
	return h
}

// holdfast runs a command of the real program on this home.
func (h *home) holdfast(ctx context.Context, t *testing.T, args ...string) (said, error) {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	var out, errs strings.Builder
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = h.environ, &out, &errs
	err = cmd.Run()
	return said{out.String(), errs.String()}, err
}

// TestApprovals decides approvals of a scripted chat from another terminal.
func TestApprovals(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	h := askingHome(t)
	none, err := h.holdfast(ctx, t, "approvals", "list")
	require.NoError(t, err)
	require.Equal(t, "no calls are waiting for approval\n", none.out)
	up := h.start(t)

	ask := func(session string) (id string, chat *exec.Cmd, out io.Reader) {
		chat = h.chat(ctx, t, "-m", "push it", "--session", session)
		chat.Stderr = nil
		errs, err := chat.StderrPipe()
		require.NoError(t, err)
		out, err = chat.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, chat.Start())
		lines := bufio.NewReader(errs)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "waiting for approval: exec: echo pushed\n", line)
		line, err = lines.ReadString('\n')
		require.NoError(t, err)
		id, _, found := strings.Cut(strings.TrimPrefix(line, "answer with `holdfast approvals approve "), "`")
		require.True(t, found)
		return id, chat, out
	}
	id, chat, out := ask("one")
	listed, err := h.holdfast(ctx, t, "approvals")
	require.NoError(t, err)
	require.Regexp(t, `^ID +TOOL +TITLE +WHERE +REQUESTED BY +SINCE +UNTIL *\n`+id+` +exec +echo pushed +http one +http +2\d{3}-.* +2\d{3}-.*\n$`, listed.out)
	listed, err = h.holdfast(ctx, t, "approvals", "list", "--json")
	require.NoError(t, err)
	var rows []approvalRow
	require.NoError(t, json.Unmarshal([]byte(listed.out), &rows))
	require.Len(t, rows, 1)
	require.Equal(t, []string{id, "exec", "echo pushed", "http", "one"}, []string{rows[0].ID, rows[0].Tool, rows[0].Title, rows[0].Channel, rows[0].Chat})

	answered, err := h.holdfast(ctx, t, "approvals", "approve", strings.ToUpper(id))
	require.NoError(t, err, answered.err)
	require.Equal(t, "Approved. `exec`: echo pushed\n", answered.out)
	again, err := h.holdfast(ctx, t, "approvals", "approve", id)
	require.NoError(t, err, again.err)
	require.Contains(t, again.out, "Already approved")
	reply, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, chat.Wait())
	require.Contains(t, string(reply), "pushed\n[exit status 0]")
	late, err := h.holdfast(ctx, t, "approvals", "deny", id)
	require.Error(t, err)
	require.Equal(t, said{err: "holdfast: Already approved by operator. `exec`: echo pushed\n"}, late)
	by := `operator, from command line of [^ ]+@[^ ,]+`
	for command, want := range map[string]string{
		"approvals --all":        id + ` +exec +echo pushed .* approved +operator +command line of [^ ]+@[^ ]+ +2\d{3}-\d\d-\d\d `,
		"sessions show http:one": `→ exec .*echo pushed.*\n +approved by ` + by + `, 2\d{3}-\d\d-\d\d `,
		"runs show http:one":     `\+\d[^ ]* .* approval .*` + id + ` approved by ` + by,
	} {
		shown, err := h.holdfast(ctx, t, strings.Fields(command)...)
		require.NoError(t, err, shown.err)
		require.Regexp(t, want, shown.out, "who decided what, when, and from where")
	}
	decided := decisions(ctx, t, up.temporal(t), "http:one")
	require.NotEmpty(t, decided)
	require.Equal(t, []string{id, "approved", "operator"}, []string{decided[0].Approval, string(decided[0].Status), decided[0].By})
	require.Contains(t, decided[0].From, "command line of ")
	sessions, err := h.holdfast(ctx, t, "sessions", "list")
	require.NoError(t, err)
	require.NotContains(t, sessions.out, "approvals", "the decision leaves no session behind")

	id, chat, out = ask("two")
	answered, err = h.holdfast(ctx, t, "approvals", "deny", id)
	require.NoError(t, err, answered.err)
	require.Equal(t, "Denied. `exec`: echo pushed\n", answered.out)
	reply, err = io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, chat.Wait())
	require.Contains(t, string(reply), "a person denied it")

	unknown, err := h.holdfast(ctx, t, "approvals", "approve", "nope")
	require.Error(t, err)
	require.Equal(t, "holdfast: approval nope not found; see `holdfast approvals list`\n", unknown.err)
	up.kill()
	away, err := h.holdfast(ctx, t, "approvals", "approve", id)
	require.Error(t, err)
	require.Contains(t, away.err, "start it with `holdfast up`")
	waiting, err := h.holdfast(ctx, t, "approvals", "--all", "--json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(waiting.out), &rows))
	require.Equal(t, "denied operator", string(rows[0].Status)+" "+rows[0].DecidedBy)
}

// decisions are the decisions in the history of a session's latest run. Each event has its
// time.
func decisions(ctx context.Context, t *testing.T, c temporal.Client, session string) (decided []protocol.ApprovalDecision) {
	t.Helper()
	history := c.GetWorkflowHistory(ctx, protocol.Names{}.Session(session), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		signal := event.GetWorkflowExecutionSignaledEventAttributes()
		if signal.GetSignalName() != protocol.ApprovalSignal {
			continue
		}
		require.NotNil(t, event.EventTime)
		var d protocol.ApprovalDecision
		require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(signal.GetInput(), &d))
		decided = append(decided, d)
	}
	return decided
}

// TestChatAsks decides approvals on the terminal of a chat that runs the agent
// itself.
func TestChatAsks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	terminal, tty, err := pty.Open()
	require.NoError(t, err)
	defer func() { _ = terminal.Close() }()
	chat := askingHome(t).chat(ctx, t, "-m", "push it")
	chat.Stdin, chat.Stderr = tty, tty
	out, err := chat.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, chat.Start())
	require.NoError(t, tty.Close())

	var seen strings.Builder
	await := func(text string) {
		buffer := make([]byte, 1024)
		for !strings.Contains(seen.String(), text) {
			n, err := terminal.Read(buffer)
			seen.Write(buffer[:n])
			require.NoError(t, err, seen.String())
		}
	}
	await("May I run this?\r\n  exec: echo pushed\r\nRun it? [y/n] ")
	_, err = io.WriteString(terminal, "y\n")
	require.NoError(t, err)
	await("Approved. `exec`: echo pushed\r\n")
	go func() { _, _ = io.Copy(io.Discard, terminal) }()
	reply, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, chat.Wait())
	require.Contains(t, string(reply), "pushed\n[exit status 0]")
}
