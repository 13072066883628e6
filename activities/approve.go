package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/internal/approval"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/text"
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
// may not run, rejection is its result for the model.
func (a *Agent) permit(ctx context.Context, in protocol.CallToolInput, call resolvedCall) (ask *protocol.PendingApproval, rejection string, err error) {
	switch a.Approvals.Policy.Verdict(approval.Call{Tool: call.Name, Title: call.title, Destructive: call.tool.Destructive}) {
	case approval.Deny:
		return nil, rejectedByRule, nil
	case approval.Allow:
		return nil, "", nil
	case approval.Ask:
	}
	sum := sha256.Sum256([]byte(call.Arguments))
	shown := shownArguments(call)
	asked, outbox, err := a.Store.AskApproval(ctx, domain.Approval{
		Call: in.Key(), Turn: in.Turn, WorkflowID: activity.GetInfo(ctx).WorkflowExecution.ID,
		Tool: call.Name, Title: text.Cut(call.title, protocol.PreviewLimit), Arguments: shown, ArgumentsHash: hex.EncodeToString(sum[:]),
	}, a.Approvals.Policy.Timeout(), a.question(call.Name, shown))
	if err == nil && in.Withdrawn && asked.Status == domain.ApprovalWaiting {
		asked, err = a.Store.DecideApproval(ctx, domain.Decision{Approval: asked.ID, Status: domain.ApprovalDropped})
	}
	switch {
	case errors.Is(err, domain.ErrConflict):
		return nil, rejectedChanged, nil
	case err != nil:
		return nil, "", fmt.Errorf("ask for approval: %w", err)
	case asked.Status == domain.ApprovalExpired, asked.Status == domain.ApprovalDropped:
		a.closeQuestions(ctx, asked)
		return nil, rejections[asked.Status], nil
	case asked.Status != domain.ApprovalWaiting:
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

// question formats the question about a call, in Markdown.
func (a *Agent) question(name, shown string) string {
	fence := "```"
	for strings.Contains(shown, fence) {
		fence += "`"
	}
	text := fmt.Sprintf("May I run `%s`?\n\n%s\n%s\n%s", name, fence, shown, fence)
	if approvers := a.Approvals.Policy.Approvers(); len(approvers) > 0 {
		text += "\n\nWho may answer: " + strings.Join(approvers, ", ")
	}
	return text
}

// decide carries out /approve and /deny and returns the reply.
func (a *Agent) decide(ctx context.Context, command domain.Command, message domain.Inbound) (string, error) {
	asked, problem, err := a.questionOf(ctx, message)
	if err != nil || problem != "" {
		return problem, err
	}
	if !a.fromOperator(message) && !a.Approvals.Policy.May(message.Channel, message.Sender, asked.Channel, asked.Sender) {
		return "You may not answer this: " + a.whoMay(), nil
	}
	status := domain.ApprovalApproved
	if command == domain.CommandDeny {
		status = domain.ApprovalDenied
	}
	decided, err := a.Store.DecideApproval(ctx, domain.Decision{
		Approval: asked.ID, Status: status, By: message.Channel + ":" + message.Sender, In: message.ID,
	})
	if err != nil {
		return "", err
	}
	failpoint.Hit("approval.decided")
	if err := a.Approvals.Decided(ctx, decided.WorkflowID, protocol.ApprovalDecision{Approval: decided.ID}); err != nil {
		return "", fmt.Errorf("signal the decision on approval %s: %w", decided.ID, err)
	}
	return decision(decided, message.ID), nil
}

// questionOf finds the question that a command answers: the one that it decided in an
// earlier attempt, the one it names, or the only one of its chat. If there is none, problem
// says why.
func (a *Agent) questionOf(ctx context.Context, message domain.Inbound) (asked domain.Approval, problem string, err error) {
	asked, err = a.questionAnswered(ctx, message)
	if !errors.Is(err, domain.ErrNotFound) {
		return asked, "", err
	}
	if _, id := domain.ParseAnswer(message.Text); id != "" {
		return domain.Approval{}, fmt.Sprintf("There is no approval with the ID %q.", id), nil
	}
	waiting, err := a.Store.WaitingApprovals(ctx, message.Route())
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

// decision describes the state of a question after a message answered it.
func decision(a domain.Approval, message string) string {
	what := fmt.Sprintf("`%s`: %s", a.Tool, brief(a.Title))
	switch {
	case a.Status == domain.ApprovalExpired:
		return "Too late: no one answered in time, and it was not run. " + what
	case a.Status == domain.ApprovalDropped:
		return "No longer needed: the request continued or ended without it. " + what
	case a.DecidedIn != message:
		return fmt.Sprintf("Already %s by %s. %s", a.Status, a.DecidedBy, what)
	case a.Status == domain.ApprovalDenied:
		return "Denied. " + what
	}
	return "Approved. " + what
}

func (a *Agent) whoMay() string {
	if approvers := a.Approvals.Policy.Approvers(); len(approvers) > 0 {
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
