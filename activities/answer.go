package activities

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// Answer carries out a command and answers it, once, and makes the first attempt to
// deliver the answer.
func (a *Agent) Answer(ctx context.Context, in protocol.AnswerInput) (result protocol.AnswerResult, err error) {
	defer recoverPanic(ctx, &err)
	result, err = a.answer(ctx, in)
	return result, failure(ctx, ctx, err)
}

func (a *Agent) answer(ctx context.Context, in protocol.AnswerInput) (protocol.AnswerResult, error) {
	message, err := a.Store.Inbound(ctx, in.Message)
	if err != nil {
		return protocol.AnswerResult{}, err
	}
	// Whoever reaches the engine can start a run with a message of their choice.
	if message.Command != in.Command || message.Session != in.Session.Key {
		return protocol.AnswerResult{}, nonRetryable(protocol.ErrorInvalid, fmt.Sprintf("Message %s is not the command /%s of %s.", message.ID, in.Command, in.Session.Key))
	}
	here, err := a.commandsOf(ctx, in, message)
	if err != nil || here.Place != "" {
		return here, err
	}
	in.Stopped, in.Commands = in.Stopped || here.Stopped, in.Commands+here.Commands
	turn, fresh, err := a.carryOut(ctx, in, message)
	if err != nil {
		return protocol.AnswerResult{}, fmt.Errorf("answer /%s: %w", in.Command, err)
	}
	if in.Command == domain.CommandNew {
		a.consolidateSession(ctx, in.Session.Key)
	}
	a.Events.Publish(ctx, in.Message, event.Event{Kind: event.Done})
	left := turn.Outbox
	if !in.Behind {
		left = a.deliverNow(ctx, in.Session.Channel, left)
	}
	if in.Command == domain.CommandApprove || in.Command == domain.CommandDeny {
		a.showAnswer(ctx, message, turn.Reply)
	}
	return protocol.AnswerResult{Outbox: left, Answered: !fresh}, nil
}

// carryOut carries out the command and stores its answer.
func (a *Agent) carryOut(ctx context.Context, in protocol.AnswerInput, message domain.Inbound) (turn domain.Turn, fresh bool, err error) {
	run := activity.GetInfo(ctx).WorkflowExecution
	answer := store.AnswerInput{
		Session: in.Session.Key, Channel: in.Session.Channel, Message: in.Message, WorkflowID: run.ID, RunID: run.RunID,
		Reset: in.Command == domain.CommandNew,
		Stop:  in.Command == domain.CommandNew || in.Command == domain.CommandStop,
	}
	switch in.Command {
	case domain.CommandNew:
		answer.Reply = "New conversation."
	case domain.CommandStop:
		answer.Reply = "Nothing is running."
		if in.Stopped {
			answer.Reply = "Stopped."
		}
	case domain.CommandStatus:
		answer.Reply = status(in.Status, in.Commands != "") + a.listSubagents(ctx, in.Session.Key) + in.Commands + a.waiting(ctx, message)
	case domain.CommandModel:
		answer.Reply, answer.Model, err = a.chooseModel(ctx, message)
	case domain.CommandJobs:
		answer.Reply = a.listJobs(ctx, message)
	case domain.CommandUsage:
		answer.Reply, err = a.usage(ctx, in)
	case domain.CommandApprove, domain.CommandDeny:
		answer.Reply, err = a.decide(ctx, in.Command, message)
	default:
		answer.Reply = help()
	}
	if in.Silent {
		answer.Reply += silentNote
	}
	if err != nil {
		return domain.Turn{}, false, err
	}
	return a.Store.Answer(ctx, answer)
}

// fromOperator reports whether the operator sent a message.
func (a *Agent) fromOperator(m domain.Inbound) bool {
	return a.Channels.IsOperator != nil && a.Channels.IsOperator(m.Route())
}

func help() string {
	var b strings.Builder
	b.WriteString("I answer messages and use tools where they help. Commands:\n")
	for _, command := range domain.Commands() {
		fmt.Fprintf(&b, "\n- `%s` %s", command.Form("/"), command.Description)
	}
	return b.String()
}

func status(s *protocol.Status, commands bool) string {
	switch {
	case s != nil && s.Turn == "" && len(s.Children) > 0:
		return "Waiting for subagents."
	case (s == nil || s.Turn == "") && commands:
		return "No request is running, but commands are:"
	case s == nil || s.Turn == "":
		return "Nothing is running."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Working: step %d (%s), %s so far.", s.Step, s.Doing, spentNow(s))
	switch {
	case s.Queued == 1:
		b.WriteString(" One message is waiting.")
	case s.Queued > 1:
		fmt.Fprintf(&b, " %d messages are waiting.", s.Queued)
	}
	return b.String()
}

// spentNow formats the usage of the running turn.
func spentNow(s *protocol.Status) string {
	return fmt.Sprintf("%d tokens, cost %s", s.Tokens, domain.Dollars(s.Cost, s.Unpriced))
}

// usage answers /usage: the usage of a session and its subagents.
func (a *Agent) usage(ctx context.Context, in protocol.AnswerInput) (string, error) {
	now := time.Now()
	days, err := a.Store.Usage(ctx, store.UsageQuery{By: store.UsageByDay, Session: in.Session.Key, Zone: now.Location()})
	if err != nil {
		return "", err
	}
	var today, total domain.Totals
	for _, day := range days {
		total.Add(day.Totals)
		if day.Key == now.Format(time.DateOnly) {
			today = day.Totals
		}
	}
	var b strings.Builder
	b.WriteString("Usage of this conversation:\n")
	if in.Status != nil && in.Status.Turn != "" {
		fmt.Fprintf(&b, "\n- the running request: %s", spentNow(in.Status))
	}
	fmt.Fprintf(&b, "\n- today: %s\n- in total: %s", spent(today), spent(total))
	if total.Unpriced > 0 {
		fmt.Fprintf(&b, "\n\n%d of the %d model calls have no known price.", total.Unpriced, total.Calls)
	}
	return b.String(), nil
}

func spent(s domain.Totals) string {
	return fmt.Sprintf("%d tokens in (%d of them cached), %d out, in %s, cost %s",
		s.PromptTokens, s.CachedTokens, s.CompletionTokens, text.Count(s.Calls, "model call"), domain.Dollars(s.Cost, s.Unpriced))
}
