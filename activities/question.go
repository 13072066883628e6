package activities

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// questionTimeout bounds what is shown of an answer to a question.
const questionTimeout = 5 * time.Second

// showAnswer updates a question after an answer: it names who answered and loses its
// buttons. A person whose click did not count, or cannot be shown there, is sent reply.
// A failure does not affect the answer; another click shows it.
func (a *Agent) showAnswer(ctx context.Context, m domain.Inbound, reply string) {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	closed, counts := false, false
	if asked, err := a.questionAnswered(ctx, m); err == nil {
		closed, counts = a.closeQuestion(ctx, asked), asked.DecidedIn == m.ID
	}
	q := a.questioner(m.Channel)
	if q == nil || m.Push || closed && counts {
		return
	}
	if err := q.TellSender(ctx, m, reply); err != nil {
		a.Logger.Warn("outcome of a decision not shown to its sender", "message", m.ID, "sender", m.Sender, "err", err)
	}
}

// questionAnswered returns the question that a message decided or names.
func (a *Agent) questionAnswered(ctx context.Context, m domain.Inbound) (domain.Approval, error) {
	asked, err := a.Store.ApprovalDecidedIn(ctx, m.ID)
	if !errors.Is(err, domain.ErrNotFound) {
		return asked, err
	}
	_, id := domain.ParseAnswer(m.Text)
	return a.Store.Approval(ctx, id)
}

// closeQuestion has a question's message say how it was answered, if it was. It reports
// whether the message does.
func (a *Agent) closeQuestion(ctx context.Context, asked domain.Approval) bool {
	q, how := a.questioner(asked.Channel), outcomeOf(asked)
	if q == nil || how == "" {
		return false
	}
	out, err := a.Store.Outbox(ctx, domain.ApprovalOutboxID(asked.Call))
	if err != nil {
		return false
	}
	if out.PlatformID == "" { // it was posted, and a crash came before that was recorded
		if finder, ok := q.(channels.Finder); ok {
			found, _ := finder.Find(ctx, out)
			out.PlatformID = found.PlatformID
		}
	}
	if out.PlatformID == "" {
		return false
	}
	closed, err := q.CloseQuestion(ctx, out, how)
	if err != nil {
		a.Logger.Debug("updating a question failed", "approval", asked.ID, "err", err)
	}
	return closed
}

// closeQuestions updates the messages of unanswered questions. A failure does not
// matter: a click updates them, too.
func (a *Agent) closeQuestions(ctx context.Context, all ...domain.Approval) {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	for _, asked := range all {
		a.closeQuestion(ctx, asked)
	}
}

// questioner returns what shows answers on a channel; nil if nothing does.
func (a *Agent) questioner(channel string) channels.Questioner {
	outbox := a.Channels.Outboxes[channel]
	if outbox == nil {
		return nil
	}
	q, _ := outbox.sender.(channels.Questioner)
	return q
}

// outcomeOf says how a question was answered; empty while it waits.
func outcomeOf(asked domain.Approval) string {
	switch asked.Status {
	case domain.ApprovalApproved:
		return "Approved by " + asked.DecidedBy
	case domain.ApprovalDenied:
		return "Denied by " + asked.DecidedBy
	case domain.ApprovalExpired:
		return "Nobody answered in time"
	case domain.ApprovalDropped:
		return "No longer needed"
	case domain.ApprovalWaiting:
	}
	return ""
}
