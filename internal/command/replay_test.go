package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/workflows"
)

// recordVariable names the folder that histories are recorded to:
//
//	HOLDFAST_RECORD=../../workflows/testdata go test ./internal/command -run 'TestReplay|TestLongTurn|TestApprovalsOutlive'
//
// Once a version is released its histories stay; new ones get new names.
const recordVariable = "HOLDFAST_RECORD"

// TestReplay replays the recorded history of each kind of turn.
func TestReplay(t *testing.T) {
	t.Parallel()
	dir := llmtest.Call{Name: "list_dir", Arguments: `{"path":"."}`}
	tests := []struct {
		name   string
		script []llmtest.Step
		do     func(t *testing.T, n *testNode, model *llmtest.Server)
	}{
		{"plain-reply", []llmtest.Step{llmtest.Text("hello")}, func(t *testing.T, n *testNode, _ *llmtest.Server) {
			n.ask(t, "main", "hi")
		}},
		{"tool-round", []llmtest.Step{
			llmtest.Calls(llmtest.Call{Name: "write_file", Arguments: `{"path":"a.txt","content":"a"}`}, dir), llmtest.Text("done"),
		}, func(t *testing.T, n *testNode, _ *llmtest.Server) {
			n.ask(t, "main", "write it")
		}},
		{"parallel-calls", []llmtest.Step{llmtest.Calls(dir, dir, dir), llmtest.Text("done")}, func(t *testing.T, n *testNode, _ *llmtest.Server) {
			n.ask(t, "main", "look")
		}},
		{"failed-turn", []llmtest.Step{llmtest.Refuse(401, "invalid_api_key", "no such key")}, func(t *testing.T, n *testNode, _ *llmtest.Server) {
			require.Equal(t, domain.ReplyFailed, n.ask(t, "main", "hi").Status)
		}},
		{"stopped-turn", []llmtest.Step{llmtest.Hang(), llmtest.Text("next")}, func(t *testing.T, n *testNode, model *llmtest.Server) {
			n.send(t, "main", "", "hang")
			require.NoError(t, model.Await(t.Context(), 1))
			joining := n.send(t, "main", "", "and this")
			n.awaitQueued(t)
			n.send(t, "main", "", "/stop")
			require.Equal(t, domain.ReplyFailed, n.await(t, joining).Status)
		}},
		{"new-in-a-turn", []llmtest.Step{llmtest.Hang(), llmtest.Text("next")}, func(t *testing.T, n *testNode, model *llmtest.Server) {
			n.send(t, "main", "", "hang")
			require.NoError(t, model.Await(t.Context(), 1))
			n.ask(t, "main", "/status")
			n.send(t, "main", "", "/new")
			n.ask(t, "main", "hello")
		}},
		{"commands-in-a-turn", []llmtest.Step{llmtest.Hang()}, func(t *testing.T, n *testNode, model *llmtest.Server) {
			hanging := n.send(t, "main", "", "hang")
			require.NoError(t, model.Await(t.Context(), 1))
			for _, command := range []string{"/model scripted/other", "/model", "/jobs", "/usage", "/help", "/stop"} {
				n.ask(t, "main", command)
			}
			require.Equal(t, domain.ReplyFailed, n.await(t, hanging).Status)
		}},
		{"cancelled-session", []llmtest.Step{llmtest.Hang()}, func(t *testing.T, n *testNode, model *llmtest.Server) {
			hanging := n.send(t, "main", "", "hang")
			require.NoError(t, model.Await(t.Context(), 1))
			require.NoError(t, n.client.CancelWorkflow(t.Context(), protocol.Names{}.Session("http:main"), ""))
			require.Equal(t, domain.ReplyFailed, n.await(t, hanging).Status)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewServer(t, tt.script...)
			n := startNode(t, model.URL)
			tt.do(t, n, model)
			n.replay(t, "http:main", tt.name)
		})
	}

	for name, answers := range map[string][]string{
		"approved-call": {"/approve", "/deny"}, "denied-call": {"no"}, "withdrawn-call": {"list something else"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewServer(t, llmtest.Calls(dir), llmtest.Text("done"))
			n := startNode(t, model.URL, func(cfg *config.Config, _ *node.Roles) { cfg.Approvals.Rules = []string{"ask list_dir"} })
			m := n.send(t, "main", "", "list it")
			require.Eventually(t, func() bool {
				waiting, err := n.store.WaitingApprovals(t.Context(), domain.Route{})
				return err == nil && len(waiting) == 1
			}, patience, 10*time.Millisecond)
			for _, answer := range answers {
				n.send(t, "main", "", answer)
			}
			require.Equal(t, "done", n.await(t, m).Text)
			n.replay(t, "http:main", name)
		})
	}

	t.Run("joined-message", func(t *testing.T) {
		t.Parallel()
		hold := make(chan struct{})
		model := llmtest.NewServer(t, llmtest.Calls(dir).After(hold), llmtest.Text("both"))
		n := startNode(t, model.URL)
		n.send(t, "main", "", "first")
		require.NoError(t, model.Await(t.Context(), 1))
		second := n.send(t, "main", "", "second")
		n.awaitQueued(t)
		close(hold)
		require.Equal(t, "both", n.await(t, second).Text)
		n.replay(t, "http:main", "joined-message")
	})

	t.Run("push-channel", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewServer(t, llmtest.Calls(dir), llmtest.Text("done"))
		memory := channeltest.NewMemory("memory")
		n := startNode(t, model.URL, func(_ *config.Config, r *node.Roles) { r.Push = map[string]node.PushChannel{"memory": memory} })
		require.NoError(t, memory.Deliver(t.Context(), domain.Inbound{PlatformID: "1", Chat: "main", Sender: "ana", Text: "hi"}))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := memory.Await(ctx, 1)
		require.NoError(t, err)
		n.replay(t, "memory:main", "push-channel")
	})
}

// TestReplayOthers is TestReplay for the other workflows.
func TestReplayOthers(t *testing.T) {
	t.Parallel()

	t.Run("job", func(t *testing.T) {
		t.Parallel()
		cfg, r, memory := jobHome(t, nil)
		n, _ := startOn(t, cfg, r)
		deliver(t, memory, "1", "t", `cron {"action":"add","message":"water the plants","name":"plants","every_seconds":1}`)
		id := jobID(t, posted(t, memory, 2)[0].Text)
		due := n.dues(t, id)[0]
		n.replayOne(t, protocol.Names{}.Job(id)+"-"+due.Format(time.RFC3339), "job")
	})

	t.Run("subagent", func(t *testing.T) {
		t.Parallel()
		n := startNode(t, delegating(t, 1, 2, llmtest.Call{ID: "c", Name: "list_dir", Arguments: `{"path":"."}`}).URL)
		delegated := n.send(t, "main", "", "delegate")
		n.await(t, delegated)
		require.Eventually(t, func() bool {
			turns, err := n.store.Turns(t.Context(), "http:main", 2)
			return err == nil && len(turns) == 2 && turns[0].Reply == "summary: did task 0"
		}, patience, 10*time.Millisecond)
		n.replay(t, "http:main", "delegating-session")
		turn := domain.MessageID("http", "", delegated)
		n.replay(t, domain.SubagentSession(domain.CallKey(turn, 1, 0)), "subagent")
	})

	t.Run("consolidation", func(t *testing.T) {
		t.Parallel()
		n := startNode(t, remembering(t, new(int)).URL)
		n.ask(t, "main", "fact 1")
		n.ask(t, "main", "/new")
		require.Eventually(t, func() bool {
			history, err := os.ReadFile(filepath.Join(n.cfg.Workspace, "memory", "HISTORY.md"))
			return err == nil && strings.Contains(string(history), "fact 1")
		}, patience, 10*time.Millisecond)
		n.replayOne(t, protocol.Names{}.Consolidation("workspace"), "consolidation")
	})
}

// replay replays the closed runs of a session's chain, and records them under
// that name if that is asked for.
func (n *testNode) replay(t *testing.T, session, name string) {
	t.Helper()
	n.awaitClosed(t, protocol.Names{}.Session(session))
	n.replayRuns(t, n.chain(t, session), name)
}

// replayOne is replay for the one run of a workflow.
func (n *testNode) replayOne(t *testing.T, id, name string) {
	t.Helper()
	n.awaitClosed(t, id)
	n.replayRuns(t, [][]*historypb.HistoryEvent{n.history(t, id, "")}, name)
}

func (n *testNode) replayRuns(t *testing.T, runs [][]*historypb.HistoryEvent, name string) {
	t.Helper()
	replayer := worker.NewWorkflowReplayer()
	for kind, f := range map[string]any{
		protocol.SessionWorkflow: workflows.Session, protocol.SubagentWorkflow: workflows.Subagent,
		protocol.JobWorkflow: workflows.Job, protocol.ConsolidationWorkflow: workflows.Consolidation,
	} {
		replayer.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: kind})
	}
	for i, events := range runs {
		history := &historypb.History{Events: events}
		require.NoError(t, replayer.ReplayWorkflowHistory(nil, history))
		if dir := os.Getenv(recordVariable); dir != "" {
			path := filepath.Join(dir, name+".json")
			if len(runs) > 1 {
				path = filepath.Join(dir, fmt.Sprintf("%s-%d.json.gz", name, i+1))
			}
			n.record(t, history, path)
		}
	}
}

// awaitClosed waits until a workflow has no open run.
func (n *testNode) awaitClosed(t *testing.T, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		described, err := n.client.DescribeWorkflowExecution(context.Background(), id, "")
		return err == nil && described.WorkflowExecutionInfo.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	}, patience, 5*time.Millisecond)
}

// record writes a history without what says where it was recorded.
func (n *testNode) record(t *testing.T, history *historypb.History, path string) {
	t.Helper()
	scrub(history.ProtoReflect())
	encoded, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(history)
	require.NoError(t, err)
	host, err := os.Hostname()
	require.NoError(t, err)
	for _, secret := range []string{host, n.cfg.Home, os.TempDir(), n.Identity} {
		require.NotContains(t, string(encoded), secret)
	}
	if strings.HasSuffix(path, ".gz") {
		var compressed bytes.Buffer
		w := gzip.NewWriter(&compressed)
		_, err := w.Write(encoded)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		encoded = compressed.Bytes()
	}
	require.NoError(t, os.WriteFile(path, encoded, 0o644))
}

// scrub replaces the names of workers and of their own queues, which have the
// host's name.
func scrub(m protoreflect.Message) {
	if queue, ok := m.Interface().(*taskqueuepb.TaskQueue); ok && queue.Kind == enumspb.TASK_QUEUE_KIND_STICKY {
		queue.Name = "sticky"
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Name() == "identity":
			m.Set(field, protoreflect.ValueOfString("worker"))
		case field.IsMap():
		case field.Kind() == protoreflect.MessageKind && field.IsList():
			for i := range value.List().Len() {
				scrub(value.List().Get(i).Message())
			}
		case field.Kind() == protoreflect.MessageKind:
			scrub(value.Message())
		}
		return true
	})
}
