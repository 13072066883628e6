package activities_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/internal/approval"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// asker is an agent that asks about calls of the tool poke, and has asked.
type asker struct {
	*bundle
	runs    int
	decided []protocol.ApprovalDecision // what waiting workflows were told
}

func setupAsker(t *testing.T, arguments string, approvers ...string) *asker {
	t.Helper()
	a := &asker{bundle: setup(t, calls(1, "poke", arguments))}
	policy, err := approval.New([]approval.Rule{{Tool: "poke", Do: approval.Ask}}, time.Hour, approvers)
	require.NoError(t, err)
	a.options.Approvals.Policy = policy
	a.options.Approvals.Decided = func(_ context.Context, _ string, d protocol.ApprovalDecision) error {
		a.decided = append(a.decided, d)
		return nil
	}
	a.options.Channels.IsOperator = func(r domain.Route) bool { return r.Sender == "root" }
	a.agent, err = activities.NewAgent(a.options)
	require.NoError(t, err)
	a.add(t, "poke", tool.Once, func(context.Context, tool.Call) (tool.Result, error) {
		a.runs++
		return tool.Result{Text: "poked"}, nil
	})
	a.accept(t, "m1", "do it", true)
	_, err = a.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	return a
}

// says accepts a command of a sender's and answers it.
func (a *asker) says(t *testing.T, sender, text string) string {
	t.Helper()
	command, _ := domain.ParseCommand(text)
	id := fmt.Sprintf("c%d-%s", len(a.decided), sender+text)
	_, _, err := a.store.Accept(t.Context(), domain.Inbound{
		ID: id, Session: session.Key, Channel: session.Channel, Chat: "c1", Sender: sender, Text: text, Command: command,
	})
	require.NoError(t, err)
	_, err = execute[protocol.AnswerResult](t, a.agent.Answer, protocol.AnswerInput{Session: session, Message: id, Command: command})
	require.NoError(t, err)
	turn, err := a.store.Turn(t.Context(), id)
	require.NoError(t, err)
	return turn.Reply
}

// ask makes the call, and returns the question.
func (a *asker) ask(t *testing.T) protocol.PendingApproval {
	t.Helper()
	result, err := a.callTool(t, 1, 0)
	require.NoError(t, err)
	require.NotNil(t, result.Approval)
	return *result.Approval
}

// result is what the call comes to.
func (a *asker) result(t *testing.T) string {
	t.Helper()
	result, err := a.callTool(t, 1, 0)
	require.NoError(t, err)
	require.Nil(t, result.Approval)
	rows := a.rows(t)
	return rows[len(rows)-1].Content
}

func TestApproval(t *testing.T) {
	t.Parallel()

	t.Run("nothing is run before the answer, and once after it", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{"command":"ls && a\u003eb","why":"to see"}`)
		events, cancel := a.bus.Subscribe("m1")
		defer cancel()
		asked := a.ask(t)
		require.Equal(t, asked.ID, a.ask(t).ID, "a retry asks the same")
		require.Equal(t, event.Approval, (<-events).Kind)
		require.InDelta(t, time.Hour, asked.Timeout, float64(time.Minute))
		out, err := a.store.Outbox(t.Context(), asked.Outbox)
		require.NoError(t, err)
		require.Contains(t, out.Text, `"command": "ls && a>b"`)
		require.Contains(t, out.Text, `"why": "to see"`)
		require.Contains(t, a.says(t, "ana", "/status"), "`"+asked.ID+"` waiting for approval: `poke`:")
		require.Zero(t, a.runs)
		require.Contains(t, a.says(t, "ana", "/approve"), "Approved. `poke`:")
		require.Equal(t, []protocol.ApprovalDecision{{
			Approval: asked.ID, Status: domain.ApprovalApproved, By: "test:ana", From: "test c1",
		}}, a.decided, "the history shows who decided what, and where")
		require.Equal(t, "poked", a.result(t))
		require.Equal(t, "poked", a.result(t), "a retry")
		require.Equal(t, 1, a.runs)
	})

	t.Run("what is denied is not run", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{}`)
		asked := a.ask(t)
		require.Contains(t, a.says(t, "ana", "/deny "+strings.ToUpper(asked.ID)), "Denied. `poke`:")
		require.Contains(t, a.says(t, "ana", "/approve "+asked.ID), "Already denied by test:ana.")
		require.Contains(t, a.result(t), "Not run: a person denied it.")
		require.Zero(t, a.runs)
	})

	t.Run("only who asked may answer, or the operator", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{}`)
		asked := a.ask(t)
		require.Equal(t, "You may not answer this: the person who asked for the work may.", a.says(t, "bob", "/approve "+asked.ID))
		require.Empty(t, a.decided)
		a.ask(t)
		require.Contains(t, a.says(t, "root", "/approve "+asked.ID), "Approved.")
		require.Equal(t, domain.Operator, a.decided[0].By)
	})

	t.Run("only approvers may answer, if there are any", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{}`, "test:carol")
		asked := a.ask(t)
		require.Equal(t, "You may not answer this: test:carol may.", a.says(t, "ana", "/approve "+asked.ID))
		require.Contains(t, a.says(t, "carol", "/approve "+asked.ID), "Approved.")
	})

	t.Run("a missing or ambiguous question needs an ID", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{}`)
		require.Equal(t, "Nothing is waiting for approval here.", a.says(t, "ana", "/approve"))
		require.Equal(t, `There is no approval with the ID "abc".`, a.says(t, "ana", "/approve `abc`"))
	})

	t.Run("a command answered again after a crash has the same effect and reply", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{}`)
		asked := a.ask(t)
		a.accept(t, "c1", "/approve", false)
		_, err := a.store.DecideApproval(t.Context(), domain.Decision{Approval: asked.ID, Status: domain.ApprovalApproved, By: "test:ana", In: "c1"})
		require.NoError(t, err)
		_, err = execute[protocol.AnswerResult](t, a.agent.Answer, protocol.AnswerInput{Session: session, Message: "c1", Command: domain.CommandApprove})
		require.NoError(t, err)
		turn, err := a.store.Turn(t.Context(), "c1")
		require.NoError(t, err)
		require.Contains(t, turn.Reply, "Approved.")
		require.Len(t, a.decided, 1, "who waits may not have been told before")
	})

	t.Run("only a message that is the command decides, and only once", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{}`)
		require.Equal(t, "Nothing is waiting for approval here.", a.says(t, "ana", "/approve"))
		a.accept(t, "c1", "/approve", false)
		asked := a.ask(t)
		_, err := execute[protocol.AnswerResult](t, a.agent.Answer, protocol.AnswerInput{Session: session, Message: "c1", Command: domain.CommandApprove})
		require.NoError(t, err)
		early, err := a.store.Turn(t.Context(), "c1")
		require.NoError(t, err)
		require.Equal(t, "Nothing is waiting for approval here.", early.Reply, "it came before the question")
		a.accept(t, "m2", "how are you?", false)
		for _, forged := range []protocol.AnswerInput{
			{Session: session, Message: "m2", Command: domain.CommandApprove},
			{Session: session, Message: "c0-ana/approve", Command: domain.CommandDeny},
			{Session: domain.SessionRef{Key: "test:c2", Channel: "test"}, Message: "c0-ana/approve", Command: domain.CommandApprove},
		} {
			_, err := execute[protocol.AnswerResult](t, a.agent.Answer, forged)
			require.True(t, failed(t, err).NonRetryable())
			require.Equal(t, protocol.ErrorInvalid, failed(t, err).Type())
		}
		_, err = execute[protocol.AnswerResult](t, a.agent.Answer, protocol.AnswerInput{Session: session, Message: "c0-ana/approve", Command: domain.CommandApprove})
		require.NoError(t, err, "answered before there was a question")
		stored, err := a.store.Approval(t.Context(), asked.ID)
		require.NoError(t, err)
		require.Equal(t, domain.ApprovalWaiting, stored.Status)
		require.Empty(t, a.decided)
	})

	t.Run("what the user writes instead is no approval", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{}`)
		asked := a.ask(t)
		result, err := execute[protocol.CallToolResult](t, a.agent.CallTool, protocol.CallToolInput{Session: session, Turn: "m1", Step: 1, Withdrawn: true})
		require.NoError(t, err)
		require.Contains(t, result.Preview, "the user wrote something else instead")
		require.Contains(t, a.says(t, "ana", "/approve "+asked.ID), "No longer needed")
		require.Zero(t, a.runs)
	})

	t.Run("an approval that came before what the user wrote counts", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{}`)
		a.ask(t)
		a.says(t, "ana", "/approve")
		result, err := execute[protocol.CallToolResult](t, a.agent.CallTool, protocol.CallToolInput{Session: session, Turn: "m1", Step: 1, Withdrawn: true})
		require.NoError(t, err)
		require.Equal(t, "poked", result.Preview)
	})

	t.Run("an expired call is not run", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{}`)
		policy, err := approval.New([]approval.Rule{{Tool: "*", Do: approval.Ask}}, -time.Second, nil)
		require.NoError(t, err)
		a.options.Approvals.Policy = policy
		a.agent, err = activities.NewAgent(a.options)
		require.NoError(t, err)
		asked := a.ask(t)
		require.Contains(t, a.says(t, "ana", "/approve "+asked.ID), "Too late")
		require.Contains(t, a.result(t), "no one answered in time")
		require.Zero(t, a.runs)
	})

	t.Run("what the rules deny is not asked about", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{"path":"secret/key"}`)
		policy, err := approval.New([]approval.Rule{{Tool: "poke", Match: "*secret/*", Do: approval.Deny}}, time.Hour, nil)
		require.NoError(t, err)
		a.options.Approvals.Policy = policy
		a.agent, err = activities.NewAgent(a.options)
		require.NoError(t, err)
		require.Contains(t, a.result(t), "the operator's rules do not allow it")
		require.Zero(t, a.runs)
	})

	t.Run("a call that began before the rule came is not asked about, nor said not to have run", func(t *testing.T) {
		t.Parallel()
		for _, verdict := range []approval.Verdict{approval.Ask, approval.Deny} {
			a := setupAsker(t, `{}`)
			policy, err := approval.New([]approval.Rule{{Tool: "poke", Do: verdict}}, time.Hour, nil)
			require.NoError(t, err)
			a.options.Approvals.Policy = policy
			a.agent, err = activities.NewAgent(a.options)
			require.NoError(t, err)
			_, _, err = a.store.Intend(t.Context(), store.Intent{Turn: "m1", Call: "m1.1.0", Part: "call"})
			require.NoError(t, err)
			require.Contains(t, a.result(t), "outcome unknown")
			waiting, err := a.store.WaitingApprovals(t.Context(), domain.Route{})
			require.NoError(t, err)
			require.Empty(t, waiting)
		}
	})

	t.Run("a question shows what fits and says what it omits", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("```x", 2000)))
		out, err := a.store.Outbox(t.Context(), a.ask(t).Outbox)
		require.NoError(t, err)
		require.Less(t, len(out.Text), 2500)
		require.Contains(t, out.Text, "\n````", "the fence is longer than what is in it")
		require.Contains(t, out.Text, "(the first 2000 of 8")
	})

	t.Run("a stopped turn withdraws its question", func(t *testing.T) {
		t.Parallel()
		a := setupAsker(t, `{}`)
		asked := a.ask(t)
		_, err := execute[protocol.EndTurnResult](t, a.agent.EndTurn, protocol.EndTurnInput{Session: session, Turn: "m1", Ending: protocol.EndingStopped})
		require.NoError(t, err)
		require.Contains(t, a.says(t, "ana", "/approve "+asked.ID), "No longer needed")
		_, err = a.callTool(t, 1, 0)
		require.NoError(t, err)
		require.Zero(t, a.runs)
	})
}

func TestUnansweredQuestions(t *testing.T) {
	t.Parallel()
	// asked is an agent whose question is in a chat in memory.
	asked := func(t *testing.T, timeout time.Duration) (*asker, *channeltest.Memory) {
		t.Helper()
		a, memory := setupAsker(t, `{}`), channeltest.NewMemory(session.Channel)
		var err error
		a.options.Approvals.Policy, err = approval.New([]approval.Rule{{Tool: "poke", Do: approval.Ask}}, timeout, nil)
		require.NoError(t, err)
		a.options.Channels.Outboxes = map[string]*activities.Outbox{session.Channel: activities.NewOutbox(a.store, memory, a.workspace)}
		a.agent, err = activities.NewAgent(a.options)
		require.NoError(t, err)
		a.ask(t)
		require.Len(t, memory.Message("p1").Buttons, 2)
		return a, memory
	}

	t.Run("lose their buttons when they expire", func(t *testing.T) {
		t.Parallel()
		a, memory := asked(t, time.Millisecond)
		require.Contains(t, a.result(t), "no one answered in time")
		require.Empty(t, memory.Message("p1").Buttons)
		require.Equal(t, "Nobody answered in time", memory.Message("p1").Note)
	})

	t.Run("lose their buttons when the operator decides on the command line", func(t *testing.T) {
		t.Parallel()
		a, memory := asked(t, time.Hour)
		_, err := a.store.DecideApproval(t.Context(), domain.Decision{
			Approval: domain.ApprovalID("m1.1.0"), Status: domain.ApprovalApproved, By: domain.Operator, From: "command line",
		})
		require.NoError(t, err)
		require.Equal(t, "poked", a.result(t))
		require.Empty(t, memory.Message("p1").Buttons)
		require.Equal(t, "Approved by operator", memory.Message("p1").Note)
	})

	t.Run("lose their buttons when the user writes something else", func(t *testing.T) {
		t.Parallel()
		a, memory := asked(t, time.Hour)
		_, err := execute[protocol.CallToolResult](t, a.agent.CallTool, protocol.CallToolInput{Session: session, Turn: "m1", Step: 1, Withdrawn: true})
		require.NoError(t, err)
		require.Empty(t, memory.Message("p1").Buttons)
		require.Equal(t, "No longer needed", memory.Message("p1").Note)
	})

	t.Run("lose their buttons when the turn is stopped", func(t *testing.T) {
		t.Parallel()
		a, memory := asked(t, time.Hour)
		a.endTurn(t, protocol.EndTurnInput{Turn: "m1", Ending: protocol.EndingStopped})
		require.Empty(t, memory.Message("p1").Buttons)
		require.Equal(t, "No longer needed", memory.Message("p1").Note)
		require.Equal(t, "Stopped.", memory.Message("p2").Text)
	})
}
