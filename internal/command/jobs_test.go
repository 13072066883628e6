package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// punctual is a model that calls the cron tool with the text after "cron"
// and answers jobs with their prompt.
func punctual(t testing.TB) *llmtest.Server {
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		asked, _, _ := strings.Cut(r.LastUser(), "\n\n[")
		arguments, isCron := strings.CutPrefix(asked, "cron ")
		switch {
		case len(r.Results()) > 0:
			return llmtest.Text(r.Results()[0])
		case isCron:
			return llmtest.Calls(llmtest.Call{ID: "c", Name: "cron", Arguments: arguments})
		case strings.HasPrefix(asked, "[Scheduled job"):
			_, prompt, _ := strings.Cut(asked, "\n")
			return llmtest.Text("done: " + prompt)
		case strings.HasPrefix(asked, "[Heartbeat]"):
			return llmtest.Text("HEARTBEAT_OK")
		default:
			return llmtest.Text("hello")
		}
	})
}

// jobHome is a home for several nodes, one after the other, with a push channel.
func jobHome(t *testing.T, change func(*config.Config)) (config.Config, node.Roles, *channeltest.Memory) {
	t.Helper()
	cfg := config.Default(t.TempDir())
	cfg.Model = "scripted/model"
	cfg.Providers["scripted"] = config.Provider{Kind: "custom", BaseURL: punctual(t).URL, APIKey: "key", Timeout: time.Minute}
	cfg.Jobs.MinEvery = time.Second
	cfg.Heartbeat.Enabled = false
	if change != nil {
		change(&cfg)
	}
	memory := channeltest.NewMemory("memory")
	return cfg, node.Roles{Engine: true, Worker: true, Starter: true, Private: true, Push: map[string]node.PushChannel{"memory": memory}}, memory
}

// jobID returns the ID in the result of the cron tool.
func jobID(t *testing.T, text string) string {
	t.Helper()
	found := regexp.MustCompile("^Added.\n- `([a-z0-9]{8})`").FindStringSubmatch(text)
	require.NotNil(t, found, text)
	return found[1]
}

func deliver(t *testing.T, memory *channeltest.Memory, id, thread, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, memory.Deliver(ctx, domain.Inbound{PlatformID: id, Chat: "c", Thread: thread, Sender: "ana", SenderName: "Ana", Text: text}))
}

func posted(t *testing.T, memory *channeltest.Memory, n int) []domain.Outbound {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	all, err := memory.Await(ctx, n)
	require.NoError(t, err)
	return all
}

// until waits for a time: these tests are about the clock.
func until(t *testing.T, at time.Time) {
	t.Helper()
	select {
	case <-time.After(time.Until(at)):
	case <-t.Context().Done():
	}
}

// dues returns the times that a job was run for, in order.
func (n *testNode) dues(t *testing.T, job string) (dues []time.Time) {
	t.Helper()
	turns, err := n.store.JobTurns(t.Context(), job, 1000)
	require.NoError(t, err)
	for _, turn := range slices.Backward(turns) {
		in, err := n.store.Inbound(t.Context(), turn.ID)
		require.NoError(t, err)
		dues = append(dues, in.SentAt)
	}
	return dues
}

func TestJobs(t *testing.T) {
	t.Parallel()
	cfg, r, memory := jobHome(t, nil)
	n, _ := startOn(t, cfg, r)

	deliver(t, memory, "1", "t", `cron {"action":"add","message":"water the plants","name":"plants","every_seconds":1}`)
	id := jobID(t, posted(t, memory, 1)[0].Text)
	all := posted(t, memory, 3)
	for _, msg := range all[1:] {
		require.Equal(t, "c t done: water the plants", msg.Chat+" "+msg.Thread+" "+msg.Text)
	}
	dues := n.dues(t, id)
	require.GreaterOrEqual(t, len(dues), 2)
	require.GreaterOrEqual(t, dues[1].Sub(dues[0]), time.Second)
	require.Zero(t, dues[1].Sub(dues[0])%time.Second)

	run, err := n.client.DescribeWorkflowExecution(t.Context(), "job/"+id+"-"+dues[0].Format(time.RFC3339), "")
	require.NoError(t, err, "the run is named by the job and its time")
	require.Equal(t, protocol.JobWorkflow, run.WorkflowExecutionInfo.Type.Name)
	require.Contains(t, string(run.ExecutionConfig.UserMetadata.Summary.Data), `job plants: \"water the plants\"`)

	deliver(t, memory, "2", "", `cron {"action":"list"}`)
	deliver(t, memory, "3", "t", fmt.Sprintf(`cron {"action":"remove","job_id":%q}`, id))
	require.Eventually(t, func() bool {
		_, err := n.client.ScheduleClient().GetHandle(t.Context(), "job/"+id).Describe(t.Context())
		job, stored := n.store.Job(t.Context(), id)
		return err != nil && stored == nil && job.Removed && !job.Scheduled
	}, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(memory.Posted(), func(m domain.Outbound) bool { return m.Thread == "" && m.Text == "There are no jobs." })
	}, patience, 10*time.Millisecond, "the thread is another conversation")
}

// TestJobsOfPullChannels runs a job in the conversation that added it.
func TestJobsOfPullChannels(t *testing.T) {
	t.Parallel()
	cfg, r, memory := jobHome(t, nil)
	n, _ := startOn(t, cfg, r)
	at := time.Now().Add(10 * time.Second).Format(time.RFC3339)
	id := jobID(t, n.ask(t, "main", fmt.Sprintf(`cron {"action":"add","message":"call the bank","at":%q}`, at)).Text)
	require.Contains(t, n.ask(t, "other", `cron {"action":"list"}`).Text, id, "who runs this sees all")
	require.Eventually(t, func() bool {
		turns, err := n.store.JobTurns(t.Context(), id, 2)
		return err == nil && len(turns) == 1 && turns[0].Reply == "done: call the bank" && turns[0].Session == "http:main"
	}, patience, 10*time.Millisecond)
	job, err := n.store.Job(t.Context(), id)
	require.NoError(t, err)
	require.False(t, job.EndedAt.IsZero())
	require.False(t, job.Removed)
	require.Equal(t, "There are no jobs.", n.ask(t, "main", `cron {"action":"list"}`).Text)
	require.Empty(t, memory.Posted())

	environ := []string{"HOLDFAST_HOME=" + cfg.Home}
	out, err := runCommand(t, environ, "jobs", "list")
	require.NoError(t, err)
	require.NotContains(t, out, id)
	out, err = runCommand(t, environ, "jobs", "list", "--all")
	require.NoError(t, err)
	require.Regexp(t, id+` +call the bank +once, .* ended +[-\d]+ [:\d]+ +done: call the bank +http:main +[-\d]+ [:\d]+ +http:main\n`, out)
}

func TestJobsThatWereDueWhileDown(t *testing.T) {
	t.Parallel()
	// Jobs due while the node was stopping may have run on time.
	cases := map[string]func(*testing.T){}
	for overlap, want := range map[string][2]int{config.OverlapSkip: {1, 2}, config.OverlapQueue: {3, 100}} {
		cases[overlap] = func(t *testing.T) {
			cfg, r, memory := jobHome(t, func(c *config.Config) { c.Jobs.Overlap = overlap })
			n, stop := startOn(t, cfg, r)
			deliver(t, memory, "1", "t", `cron {"action":"add","message":"again","every_seconds":5}`)
			every := jobID(t, posted(t, memory, 1)[0].Text)
			due := time.Now().Add(25 * time.Second) // longer than it takes to stop
			id := jobID(t, n.ask(t, "main", fmt.Sprintf(`cron {"action":"add","message":"once","at":%q}`, due.Format(time.RFC3339))).Text)
			posted(t, memory, len(memory.Posted())+1) // it has just run
			stopping := time.Now()
			stop()
			down := time.Now()
			require.True(t, down.Before(due))
			until(t, due.Add(time.Second))
			until(t, down.Add(16*time.Second)) // at least three times of the recurring one
			up := time.Now()
			n, _ = startOn(t, cfg, r)

			late := 0
			require.Eventually(t, func() bool {
				dues, inTime := n.dues(t, every), 0
				late = 0
				for _, due := range dues {
					if due.After(up) {
						inTime++
					} else if due.After(stopping) {
						late++
					}
				}
				return len(n.dues(t, id)) == 1 && late >= want[0] && (inTime > 0 || overlap == config.OverlapQueue)
			}, patience, 50*time.Millisecond)
			require.True(t, n.dues(t, id)[0].Before(up), "what is for one time is made up for")
			require.LessOrEqual(t, late, want[1])
			n.requireEvery(t, every, 5*time.Second)
		}
	}
	sideBySide(t, cases)
}

// TestJobsOverlap runs a job while its last run is active.
func TestJobsOverlap(t *testing.T) {
	t.Parallel()
	for overlap, want := range map[string]protocol.FireResult{
		config.OverlapSkip:  {Skipped: "the previous run is still active"},
		config.OverlapQueue: {Session: "job:j"},
		config.OverlapAllow: {Session: "job:j:"},
	} {
		t.Run(overlap, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return llmtest.Hang() })
			cfg, r, _ := jobHome(t, func(c *config.Config) {
				c.Jobs.Overlap = overlap
				c.Providers["scripted"] = config.Provider{Kind: "custom", BaseURL: model.URL, APIKey: "key", Timeout: time.Minute}
			})
			n, _ := startOn(t, cfg, r)
			_, err := n.jobs.Add(t.Context(), domain.Job{
				ID: "j", Message: "m", Kind: domain.JobEvery, Spec: "3600", Zone: "UTC", Session: "s", Route: domain.Route{Channel: "job"},
			}, "")
			require.NoError(t, err)
			first := n.runJob(t, "j")
			require.Equal(t, "job:j", first.Session)
			require.NoError(t, model.Await(t.Context(), 1))
			second := n.runJob(t, "j")
			require.Equal(t, want.Skipped, second.Skipped)
			if want.Session == "job:j:" {
				require.True(t, strings.HasPrefix(second.Session, want.Session), second.Session)
			} else {
				require.Equal(t, want.Session, second.Session)
			}
		})
	}
}

// runJob runs a job now and returns the result.
func (n *testNode) runJob(t *testing.T, id string) (result protocol.FireResult) {
	t.Helper()
	handle := n.client.ScheduleClient().GetHandle(t.Context(), protocol.Names{}.Job(id))
	before, err := handle.Describe(t.Context())
	require.NoError(t, err)
	until(t, time.Now().Truncate(time.Second).Add(time.Second)) // at most one run a second
	require.NoError(t, n.jobs.Run(t.Context(), id))
	var run string
	require.Eventually(t, func() bool {
		described, err := handle.Describe(t.Context())
		if err != nil || described.Info.NumActions == before.Info.NumActions {
			return false
		}
		run = described.Info.RecentActions[len(described.Info.RecentActions)-1].StartWorkflowResult.WorkflowID
		return true
	}, patience, 10*time.Millisecond)
	require.NoError(t, n.client.GetWorkflow(t.Context(), run, "").Get(t.Context(), &result))
	return result
}

func TestHeartbeat(t *testing.T) {
	t.Parallel()
	cfg, r, memory := jobHome(t, func(c *config.Config) {
		c.Heartbeat = config.Heartbeat{Enabled: true, Every: time.Second, Channel: "memory", Chat: "home"}
	})
	replies := make(chan string, 1)
	replies <- "HEARTBEAT_OK"
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		require.True(t, strings.HasPrefix(r.LastUser(), "[Heartbeat]\nRead HEARTBEAT.md"), r.LastUser())
		select {
		case reply := <-replies:
			return llmtest.Text(reply)
		default:
			return llmtest.Text("the oven is on")
		}
	})
	cfg.Providers["scripted"] = config.Provider{Kind: "custom", BaseURL: model.URL, APIKey: "key", Timeout: time.Minute}
	file := filepath.Join(cfg.Workspace, "HEARTBEAT.md")
	require.NoError(t, initWorkspace(io.Discard, cfg.Workspace))
	require.FileExists(t, file)
	n, stop := startOn(t, cfg, r)
	actions := func(n *testNode) int {
		described, err := n.client.ScheduleClient().GetHandle(t.Context(), domain.Heartbeat).Describe(t.Context())
		if err != nil {
			return 0
		}
		return described.Info.NumActions
	}
	beats := func(n *testNode, more int) {
		before := actions(n)
		require.Eventually(t, func() bool { return actions(n) >= before+more }, patience, 10*time.Millisecond)
	}
	beats(n, 2)
	require.Empty(t, model.Requests(), "what init writes asks for nothing")
	require.NoError(t, os.WriteFile(file, []byte("# Heartbeat\n\n<!-- nothing\nyet -->\n- [ ]\n"), 0o600))
	beats(n, 2)
	require.Empty(t, model.Requests(), "nothing is asked for")

	require.NoError(t, os.WriteFile(file, []byte("# Heartbeat\n\n- [ ] look at the oven\n"), 0o600))
	all := posted(t, memory, 1)
	require.Equal(t, "home the oven is on", all[0].Chat+" "+all[0].Text)
	turns, err := n.store.Turns(t.Context(), "heartbeat", 100)
	require.NoError(t, err)
	require.Equal(t, "HEARTBEAT_OK", turns[len(turns)-1].Reply)
	require.Empty(t, turns[len(turns)-1].Outbox, "there was nothing to say")

	stop()
	asked := len(model.Requests())
	cfg.Heartbeat.Zone = "UTC" // another hour than the current one
	cfg.Heartbeat.Active = time.Now().UTC().Add(2*time.Hour).Format("15:00") + "-" + time.Now().UTC().Add(3*time.Hour).Format("15:00")
	n, stop = startOn(t, cfg, r)
	beats(n, 2)
	require.LessOrEqual(t, len(model.Requests()), asked+1, "but for one that was under way")
	stop()
	cfg.Heartbeat.Enabled = false
	n, _ = startOn(t, cfg, r)
	require.Eventually(t, func() bool {
		_, err := n.client.ScheduleClient().GetHandle(t.Context(), domain.Heartbeat).Describe(t.Context())
		return err != nil
	}, patience, 10*time.Millisecond)
}

func TestJobsCommands(t *testing.T) {
	t.Parallel()
	cfg, r, _ := jobHome(t, nil)
	environ := []string{"HOLDFAST_HOME=" + cfg.Home}
	_, err := runCommand(t, environ, "jobs", "add", "-m", "m", "--every", "1h")
	require.ErrorContains(t, err, "start one with `holdfast engine` or `holdfast up`")
	out, err := runCommand(t, environ, "jobs", "list")
	require.NoError(t, err)
	require.Contains(t, out, "no jobs")

	n, _ := startOn(t, cfg, r)
	require.NoError(t, node.WriteRun(cfg.DataDir(), n.note("")))
	jobs := func(args ...string) string {
		t.Helper()
		out, err := runCommand(t, environ, append([]string{"jobs"}, args...)...)
		require.NoError(t, err)
		return out
	}
	out = jobs("add", "-m", "say hello", "--name", "greeting", "--cron", "0 9 * * *", "--tz", "Europe/Berlin")
	require.Regexp(t, `^added [a-z0-9]{8}: cron 0 9 \* \* \* \(Europe/Berlin\), next \w+ [-\d]+ 09:00:00 CES?T\n$`, out)
	id := strings.TrimSuffix(strings.Fields(out)[1], ":")
	require.Equal(t, "paused "+id+"\n", jobs("pause", id))
	require.Regexp(t, id+` +greeting +cron 0 9 \* \* \* \(Europe/Berlin\) +paused +- +cli`, jobs("list"))
	require.Equal(t, "started "+id+"\n", jobs("run", id), "also while it is paused")
	var rows []jobRow
	require.Eventually(t, func() bool {
		require.NoError(t, json.Unmarshal([]byte(jobs("list", "--json")), &rows))
		return len(rows) == 1 && rows[0].Reply == "done: say hello"
	}, patience, 100*time.Millisecond)
	require.Equal(t, "done", rows[0].Status)
	require.True(t, rows[0].Paused)
	require.Equal(t, "resumed "+id+"\n", jobs("resume", id))
	require.NotContains(t, jobs("list"), "paused")
	shown, err := runCommand(t, environ, "sessions", "show", "job:"+id)
	require.NoError(t, err)
	require.Contains(t, shown, "done: say hello")
	require.Equal(t, "removed "+id+"\n", jobs("rm", id))
	_, err = n.client.ScheduleClient().GetHandle(t.Context(), "job/"+id).Describe(t.Context())
	require.Error(t, err)

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rm", id}, "job " + id + " not found"},
		{[]string{"run", "x"}, "job x not found"},
		{[]string{"add", "--every", "1h"}, "message is missing"},
		{[]string{"add", "-m", "m", "--every", "1h", "--channel", "slack", "--chat", "C1"}, `cannot send to "slack": it is disabled`},
	} {
		_, err := runCommand(t, environ, append([]string{"jobs"}, c.args...)...)
		require.ErrorContains(t, err, c.want)
	}
}
