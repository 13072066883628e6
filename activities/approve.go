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

// askedLimit is how much of a call's arguments a person is shown who is asked, in bytes.
const askedLimit = 2000

// What a model is told of a call that was not run.
const (
	refusedByRule = "Not run: the operator's rules do not allow it. Do not try to get around them; say what could not be done."
	refusedDenied = "Not run: a person denied it. Do not try to do the same in another way; ask what to do instead, or continue without it."
	refusedLate   = "Not run: it needed a person's approval, and no one answered in time."
	refusedUnsaid = "Not run: it needed a person's approval, and the user wrote something else instead. That message follows."
	refusedOther  = "Not run: the approval was for other arguments."
)

// permit decides whether a call may be run. If a person is to be asked first, ask is
// set; if it may not be run, refused says so to the model.
func (a *Agent) permit(ctx context.Context, in protocol.CallToolInput, call domain.ToolCall) (ask *protocol.PendingApproval, refused string, err error) {
	title, destructive := call.Arguments, false
	if t, err := a.tools(in.Session).Lookup(ctx, call.Name); err == nil {
		title, destructive = t.Title([]byte(call.Arguments)), t.Destructive
	}
	switch a.Approvals.Policy.Verdict(approval.Call{Tool: call.Name, Title: title, Destructive: destructive}) {
	case approval.Deny:
		return nil, refusedByRule, nil
	case approval.Allow:
		return nil, "", nil
	case approval.Ask:
	}
	sum := sha256.Sum256([]byte(call.Arguments))
	shown := showing(call, title)
	asked, outbox, err := a.Store.AskApproval(ctx, domain.Approval{
		Call: domain.CallKey(in.Turn, in.Step, in.Index), Turn: in.Turn, WorkflowID: activity.GetInfo(ctx).WorkflowExecution.ID,
		Tool: call.Name, Title: text.Cut(title, protocol.PreviewLimit), Arguments: shown, ArgumentsHash: hex.EncodeToString(sum[:]),
	}, a.Approvals.Policy.Timeout(), a.question(call.Name, shown))
	if err == nil && in.Withdrawn && asked.Status == domain.ApprovalWaiting {
		asked, err = a.Store.DecideApproval(ctx, domain.Decision{Approval: asked.ID, Status: domain.ApprovalDropped})
	}
	switch {
	case errors.Is(err, domain.ErrConflict):
		return nil, refusedOther, nil
	case err != nil:
		return nil, "", fmt.Errorf("ask for approval: %w", err)
	}
	switch asked.Status {
	case domain.ApprovalApproved:
		return nil, "", nil
	case domain.ApprovalDenied:
		return nil, refusedDenied, nil
	case domain.ApprovalExpired:
		return nil, refusedLate, nil
	case domain.ApprovalDropped:
		return nil, refusedUnsaid, nil
	case domain.ApprovalWaiting:
	}
	failpoint.Hit("approval.asked")
	a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.Approval, ID: asked.ID, Tool: asked.Tool, Text: asked.Arguments, Step: in.Step})
	return &protocol.PendingApproval{
		ID: asked.ID, Timeout: max(time.Until(asked.ExpiresAt), time.Second), Channel: asked.Channel, Outbox: outbox,
	}, "", nil
}

// showing is what a person is shown of the arguments who is asked about a call: all, as
// far as there is room. What is approved is what was shown.
func showing(call domain.ToolCall, title string) string {
	shown := title
	var arguments map[string]any
	if json.Unmarshal([]byte(call.Arguments), &arguments) == nil && (len(arguments) > 1 || title == call.Arguments) {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false) // && is to be read as such
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

// question is what a person is asked, in Markdown.
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

// decide answers the question that a command is about, and says what came of it.
func (a *Agent) decide(ctx context.Context, in protocol.AnswerInput) (string, error) {
	message, err := a.Store.Inbound(ctx, in.Message)
	if err != nil {
		return "", err
	}
	asked, problem, err := a.questionOf(ctx, message)
	if err != nil || problem != "" {
		return problem, err
	}
	if !a.operator(message) && !a.Approvals.Policy.May(message.Channel, message.Sender, asked.Channel, asked.Sender) {
		return "You may not answer this: " + a.whoMay(), nil
	}
	status := domain.ApprovalApproved
	if in.Command == domain.CommandDeny {
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

// questionOf finds the question that a command is about: the one that it has answered
// in an earlier attempt, that it names, or the only one of its chat. The problem is
// for the user to read.
func (a *Agent) questionOf(ctx context.Context, message domain.Inbound) (asked domain.Approval, problem string, err error) {
	asked, err = a.Store.ApprovalDecidedIn(ctx, message.ID)
	if !errors.Is(err, domain.ErrNotFound) {
		return asked, "", err
	}
	_, id := domain.ParseAnswer(message.Text)
	if id == "" {
		waiting, err := a.Store.WaitingApprovals(ctx, domain.Route{Channel: message.Channel, Chat: message.Chat, Thread: message.Thread})
		switch {
		case err != nil:
			return domain.Approval{}, "", err
		case len(waiting) == 0:
			return domain.Approval{}, "Nothing is waiting for approval here.", nil
		case len(waiting) > 1:
			return domain.Approval{}, "Which one? Add its ID to the command." + asking(waiting), nil
		}
		return waiting[0], "", nil
	}
	asked, err = a.Store.Approval(ctx, id)
	if errors.Is(err, domain.ErrNotFound) {
		return domain.Approval{}, fmt.Sprintf("No approval with the ID %q.", id), nil
	}
	return asked, "", err
}

// decision says how a question stands that a message has just answered.
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

// waiting says which calls of a conversation wait for an approval, a line each.
func (a *Agent) waiting(ctx context.Context, message string) string {
	asked, err := a.Store.Inbound(ctx, message)
	if err != nil {
		return ""
	}
	waiting, err := a.Store.WaitingApprovals(ctx, domain.Route{Channel: asked.Channel, Chat: asked.Chat, Thread: asked.Thread})
	if err != nil {
		return "\n(cannot read the open approvals: " + err.Error() + ")"
	}
	return asking(waiting)
}

func asking(waiting []domain.Approval) string {
	var b strings.Builder
	for _, w := range waiting {
		fmt.Fprintf(&b, "\n- `%s` waiting for approval: `%s`: %s", w.ID, w.Tool, brief(w.Title))
	}
	return b.String()
}
