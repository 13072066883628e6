package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// settled is how long after its end a fault may still delay messages.
const settled = 3 * time.Second

// chaosProblem is something that the chaos test found wrong.
type chaosProblem struct {
	at            time.Time
	session, text string
}

// problem notes something that is wrong with a session; with all, if it is empty.
func (c *chaosRound) problem(session, format string, values ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, chaosProblem{time.Now(), session, fmt.Sprintf(format, values...)})
}

// check looks for problems from outside, after the storm.
func (c *chaosRound) check(t *testing.T) {
	c.checkIdle(t)
	sessions := map[string][]*chaosMessage{}
	for _, m := range c.load.messages {
		sessions[m.session] = append(sessions[m.session], m)
	}
	for session, messages := range sessions {
		c.checkSession(t, session, messages)
	}
	c.checkEffects(t)
	for _, d := range c.delays() {
		if limit := c.limit * time.Duration(max(1, len(d.faults))); d.late > limit {
			c.problem(d.session, "%s was %s slower than its work after faults %d: the limit is %v", d.text, seconds(d.late), d.faults, limit)
		} else if d.late > c.limit/2 {
			t.Logf("%s in %s was %s slower than its work after faults %d", d.text, d.session, seconds(d.late), d.faults)
		}
	}
	for _, invalid := range c.model.Invalid() {
		c.problem("", "the model got an invalid transcript: %s", invalid)
	}
}

// checkSession checks a session's transcript and background replies.
func (c *chaosRound) checkSession(t *testing.T, session string, messages []*chaosMessage) {
	key := "http:" + session
	rows, err := c.load.apis[0].Transcript(t.Context(), key)
	require.NoError(t, err)
	var want, got []string
	for _, m := range messages {
		if m.reply.Status != "" { // otherwise the problem is known
			want = append(want, m.text()+": "+m.reply.Text)
		}
	}
	asked := ""
	for _, row := range rows {
		line, _, _ := strings.Cut(row.Content, "\n")
		switch {
		case row.Role == domain.RoleUser:
			asked = line
		case row.Role == domain.RoleAssistant && len(row.ToolCalls) == 0 && !strings.HasPrefix(asked, "["):
			got = append(got, asked+": "+line)
		default:
		}
	}
	if !slices.Equal(want, got) {
		c.problem(session, "the transcript has\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	replies, err := c.load.apis[0].Background(t.Context(), key, time.Time{})
	require.NoError(t, err)
	for _, m := range messages {
		replies := slices.DeleteFunc(slices.Clone(replies), func(r domain.BackgroundReply) bool { return !m.isLater(r) })
		if m.later() && !m.laterTo.IsZero() && len(replies) != 1 {
			c.problem(session, "%s has %d background replies", m.text(), len(replies))
		}
	}
}

// checkEffects checks that each command ran once, and each file has what was written.
func (c *chaosRound) checkEffects(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(c.stack.workspace, effectsFile))
	require.NoError(t, err)
	got := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		got[strings.TrimSpace(line)]++
	}
	for _, m := range c.load.messages {
		want := 0
		if m.works() {
			want = 1
		}
		if begun, ended := got["begin "+m.name], got["end "+m.name]; begun != want || ended != want {
			c.problem(m.session, "the command of %s began %d times and ended %d times", m.text(), begun, ended)
		}
		delete(got, "begin "+m.name)
		delete(got, "end "+m.name)
		if m.kind != kindFile {
			continue
		}
		content, err := os.ReadFile(filepath.Join(c.stack.workspace, chaosFile(m.name)))
		if err != nil || string(content) != "two of "+m.name+"\n" {
			c.problem(m.session, "the file of %s has %q: %v", m.text(), content, err)
		}
	}
	if len(got) > 0 {
		c.problem("", "nobody asked for %q", slices.Collect(maps.Keys(got)))
	}
}

// checkIdle checks that no run is open and no command runs.
func (c *chaosRound) checkIdle(t *testing.T) {
	temporal := c.stack.temporal(t)
	query := &workflowservice.ListWorkflowExecutionsRequest{Namespace: "default", Query: "ExecutionStatus = 'Running'"}
	var open []string
	idle := eventually(t.Context(), func(ctx context.Context) bool {
		list, err := temporal.ListWorkflow(ctx, query)
		open = nil
		for _, run := range list.GetExecutions() {
			open = append(open, run.GetExecution().GetWorkflowId())
		}
		return err == nil && len(open) == 0
	})
	if !idle {
		c.problem("", "runs are open: %q", open)
	}
	var left []string
	ended := eventually(t.Context(), func(context.Context) bool {
		left = c.commands()
		return len(left) == 0
	})
	if !ended {
		c.problem("", "commands are running: %q", left)
	}
}

// eventually calls f until it returns true, for 15 seconds.
func eventually(ctx context.Context, f func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for !f(ctx) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(lookInterval):
		}
	}
	return true
}

// commands returns the command lines of the supervisors of the stack.
func (c *chaosRound) commands() (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, _ := os.ReadFile(path) // the process may be gone
		for _, home := range c.stack.homes {
			if bytes.Contains(line, []byte(home)) {
				found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
	}
	return found
}

// chaosDelay is how much longer than its own work a reply took.
type chaosDelay struct {
	session, text string
	late          time.Duration
	faults        []int // indexes of what struck at that time
}

func (c *chaosRound) delays() []chaosDelay {
	var all []chaosDelay
	add := func(m *chaosMessage, text string, work time.Duration, from, to time.Time) {
		if to.IsZero() || m.reply.Status == "" {
			return
		}
		d := chaosDelay{session: m.session, text: text, late: to.Sub(from) - work}
		for i, s := range c.struck {
			if s.at.After(to) || s.until.Add(settled).Before(from) {
				continue
			}
			d.faults = append(d.faults, i)
			if s.outage || s.pauses && work > 0 {
				d.late -= max(0, minTime(s.until, to).Sub(maxTime(s.at, from)))
			}
		}
		all = append(all, d)
	}
	for _, m := range c.load.messages {
		add(m, m.text(), m.own(), m.from, m.to)
		if m.later() {
			add(m, "what follows "+m.text(), m.work, m.laterFrom, m.laterTo)
		}
	}
	return all
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// slowest adds the slowest reply after each fault that struck alone.
func (c *chaosRound) slowest(into map[string][]time.Duration) {
	slowest := map[int]time.Duration{}
	for _, d := range c.delays() {
		switch len(d.faults) {
		case 0:
			into["none"] = append(into["none"], d.late)
		case 1:
			slowest[d.faults[0]] = max(slowest[d.faults[0]], d.late)
		default:
		}
	}
	for i, late := range slowest {
		fault := c.struck[i].String()
		into[fault] = append(into[fault], late)
	}
}

// chaosFigures is a table of the slowest replies after the faults of each kind.
func chaosFigures(slowest map[string][]time.Duration) string {
	var table strings.Builder
	fmt.Fprintf(&table, "%-24s %6s %8s %8s\n", "slowest reply after", "faults", "median", "max")
	for _, kind := range slices.Sorted(maps.Keys(slowest)) {
		times := slices.Sorted(slices.Values(slowest[kind]))
		fmt.Fprintf(&table, "%-24s %6d %8s %8s\n", kind, len(times), seconds(times[len(times)/2]), seconds(times[len(times)-1]))
	}
	return table.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// report fails the test if there are problems, and tells what is needed to diagnose them.
func (c *chaosRound) report(t *testing.T) {
	if len(c.problems) == 0 && !t.Failed() {
		require.NoError(t, os.RemoveAll(c.logs))
		t.Logf("%d faults, %d messages, %d model calls", len(c.struck), len(c.load.messages), c.model.Count())
		return
	}
	t.Logf("seed %d; logs in %s", c.seed, c.logs)
	for i, s := range c.struck {
		t.Logf("fault %d at %s for %s: %s", i, s.at.Format(stamp), seconds(s.until.Sub(s.at)), s)
	}
	stories := map[string]bool{}
	for _, p := range slices.SortedFunc(slices.Values(c.problems), func(a, b chaosProblem) int { return a.at.Compare(b.at) }) {
		t.Errorf("%s %s: %s", p.at.Format(stamp), cmp.Or(p.session, "all"), p.text)
		if p.session != "" && !stories[p.session] && len(stories) < 5 {
			stories[p.session] = true
			c.tell(t, p.session)
		}
	}
}

const stamp = "15:04:05.000"

// tell prints all that is known about a session.
func (c *chaosRound) tell(t *testing.T, session string) {
	for _, m := range c.load.messages {
		if m.session == session {
			t.Logf("%s from %s to %s", m.text(), m.from.Format(stamp), m.to.Format(stamp))
		}
	}
	for _, command := range []string{"sessions", "runs"} {
		out, err := runCommand(t, c.stack.environ, command, "show", "http:"+session)
		t.Logf("%s show: %v\n%s", command, err, out)
	}
}
