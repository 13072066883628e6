package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/internal/approval"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// askedLimit bounds, in bytes, the arguments shown in a question.
const askedLimit = 2000

// The results of calls that were not run, for the model.
const (
	rejectedByRule  = "Not run: the operator's rules do not allow it. Do not try to work around them; say what could not be done."
	rejectedChanged = "Not run: the approval was for other arguments."
)

// rejections are the results of calls whose approval was not given, for the model.
var rejections = map[domain.ApprovalStatus]string{
	domain.ApprovalDenied:  "Not run: a person denied it. Do not try to do the same thing another way; ask what to do instead, or continue without it.",
	domain.ApprovalExpired: "Not run: it needed a person's approval, and no one answered in time.",
	domain.ApprovalDropped: "Not run: it needed a person's approval, and the user wrote something else instead. That message follows.",
}

// permit decides whether a call may run. If it needs an approval first, ask is set; if it
// may not run, rejection is its result for the model. A call that an earlier attempt began
// was permitted then, and is not said not to have run.
func (a *Agent) permit(ctx context.Context, in protocol.CallToolInput, call resolvedCall) (ask *protocol.PendingApproval, rejection string, err error) {
	about := call.tool.Subject([]byte(call.Arguments))
	verdict := a.Approvals.Policy.Verdict(approval.Call{Tool: call.Name, Each: about.Each, Also: about.Also, Destructive: call.tool.Destructive})
	if verdict == approval.Allow {
		return nil, "", nil
	}
	if begun, err := a.Store.Begun(ctx, in.Turn, in.Key()); err != nil || begun {
		return nil, "", err
	}
	if verdict == approval.Deny {
		return nil, rejectedByRule, nil
	}
	sum := sha256.Sum256([]byte(call.Arguments))
	shown := shownArguments(call) + shownPaths(call, about)
	settings, err := a.settings(ctx, in.Turn)
	if err != nil {
		return nil, "", err
	}
	policy := a.Approvals.Policy.WithApprovers(settings.Approvers)
	asked, outbox, err := a.Store.AskApproval(ctx, domain.Approval{
		Call: in.Key(), Turn: in.Turn, WorkflowID: activity.GetInfo(ctx).WorkflowExecution.ID,
		Tool: call.Name, Title: text.Cut(strings.ReplaceAll(call.title, "\n", " ⏎ "), protocol.PreviewLimit), Arguments: shown, ArgumentsHash: hex.EncodeToString(sum[:]),
	}, a.Approvals.Policy.Timeout(), question(policy.Approvers(), call.Name, shown))
	if err == nil && in.Withdrawn && asked.Status == domain.ApprovalWaiting {
		asked, err = a.Store.DecideApproval(ctx, domain.Decision{Approval: asked.ID, Status: domain.ApprovalDropped})
	}
	switch {
	case errors.Is(err, domain.ErrConflict):
		return nil, rejectedChanged, nil
	case err != nil:
		return nil, "", fmt.Errorf("ask for approval: %w", err)
	case asked.Status != domain.ApprovalWaiting:
		if asked.DecidedIn == "" { // else the answer to that message closes it
			a.closeQuestions(ctx, asked)
		}
		return nil, rejections[asked.Status], nil
	}
	failpoint.Hit("approval.asked")
	a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.Approval, ID: asked.ID, Tool: asked.Tool, Text: asked.Arguments, Step: in.Step})
	return &protocol.PendingApproval{
		ID: asked.ID, Timeout: max(time.Until(asked.ExpiresAt), time.Second), Channel: asked.Channel, Outbox: outbox,
	}, "", nil
}

// shownArguments formats a call's arguments for the person who approves it: all of them,
// as far as there is room.
func shownArguments(call resolvedCall) string {
	shown := call.title
	var arguments map[string]any
	if json.Unmarshal([]byte(call.Arguments), &arguments) == nil && (len(arguments) > 1 || call.title == call.Arguments) {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false) // people read it
		encoder.SetIndent("", "  ")
		if encoder.Encode(arguments) == nil {
			shown = strings.TrimSpace(b.String())
		}
	}
	if len(shown) > askedLimit {
		return fmt.Sprintf("%s\n(the first %d of %d bytes)", text.Cut(shown, askedLimit), askedLimit, len(shown))
	}
	return shown
}

// shownPaths lists the paths that a call is about, unless they are its title: arguments may
// write them in ways that mislead.
func shownPaths(call resolvedCall, about tool.Subject) string {
	if call.tool.SubjectOf == nil || slices.Equal(about.Each, []string{call.title}) {
		return ""
	}
	return "\npaths: " + text.Cut(strings.Join(about.Each, ", "), protocol.PreviewLimit)
}

// question formats the question about a call, in Markdown.
func question(approvers []string, name, shown string) string {
	fence := "```"
	for strings.Contains(shown, fence) {
		fence += "`"
	}
	text := fmt.Sprintf("May I run `%s`?\n\n%s\n%s\n%s", name, fence, shown, fence)
	if len(approvers) > 0 {
		text += "\n\nWho may answer: " + strings.Join(approvers, ", ")
	}
	return text
}

// decide carries out /approve and /deny and returns the reply. A message that was already
// answered decides nothing: the question that is open now was asked after it.
func (a *Agent) decide(ctx context.Context, command domain.Command, message domain.Inbound) (string, error) {
	if message.Turn != "" {
		return "", nil
	}
	asked, problem, err := a.questionOf(ctx, message)
	if err != nil || problem != "" {
		return problem, err
	}
	policy := a.approvals(domain.Route{Channel: asked.Channel, Chat: asked.Chat})
	if !a.fromOperator(message) && !policy.May(message.Channel, message.Sender, asked.Channel, asked.Sender) {
		return "You may not answer this: " + whoMay(policy.Approvers()), nil
	}
	status := domain.ApprovalApproved
	if command == domain.CommandDeny {
		status = domain.ApprovalDenied
	}
	by := message.Channel + ":" + message.Sender
	if a.fromOperator(message) {
		by = domain.Operator
	}
	from := strings.TrimSpace(message.Channel + " " + message.Chat + " " + message.Thread)
	decided, err := a.Store.DecideApproval(ctx, domain.Decision{Approval: asked.ID, Status: status, By: by, From: from, In: message.ID})
	if err != nil {
		return "", err
	}
	failpoint.Hit("approval.decided")
	if err := a.Approvals.Decided(ctx, decided.WorkflowID, protocol.NewApprovalDecision(decided)); err != nil {
		return "", fmt.Errorf("signal the decision on approval %s: %w", decided.ID, err)
	}
	return approval.Outcome(decided, decided.DecidedIn == message.ID), nil
}

// questionOf finds the question that a command answers: the one that it decided in an
// earlier attempt, the one it names, or the only one of its chat that was asked before the
// message came, which may have waited. If it finds no question, problem says why.
func (a *Agent) questionOf(ctx context.Context, message domain.Inbound) (asked domain.Approval, problem string, err error) {
	asked, err = a.questionAnswered(ctx, message)
	if !errors.Is(err, domain.ErrNotFound) {
		return asked, "", err
	}
	if _, id := domain.ParseAnswer(message.Text); id != "" {
		return domain.Approval{}, fmt.Sprintf("There is no approval with the ID %q.", id), nil
	}
	waiting, err := a.Store.WaitingApprovals(ctx, message.Route())
	waiting = slices.DeleteFunc(waiting, func(w domain.Approval) bool { return w.CreatedAt.After(message.AcceptedAt) })
	switch {
	case err != nil:
		return domain.Approval{}, "", err
	case len(waiting) == 0:
		return domain.Approval{}, "Nothing is waiting for approval here.", nil
	case len(waiting) > 1:
		return domain.Approval{}, "Which one? Add its ID to the command." + listQuestions(waiting), nil
	}
	return waiting[0], "", nil
}

func whoMay(approvers []string) string {
	if len(approvers) > 0 {
		return strings.Join(approvers, ", ") + " may."
	}
	return "the person who asked for the work may."
}

// waiting lists the waiting approvals of a conversation for /status, one per line.
func (a *Agent) waiting(ctx context.Context, message domain.Inbound) string {
	waiting, err := a.Store.WaitingApprovals(ctx, message.Route())
	if err != nil {
		return "\n(cannot read the open approvals: " + err.Error() + ")"
	}
	return listQuestions(waiting)
}

func listQuestions(waiting []domain.Approval) string {
	var b strings.Builder
	for _, w := range waiting {
		fmt.Fprintf(&b, "\n- `%s` waiting for approval: `%s`: %s", w.ID, w.Tool, brief(w.Title))
	}
	return b.String()
}
