package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// pageSize is the number of pending messages per read.
const pageSize = 500

// Signal signals a message to its session's workflow, starting the workflow if necessary.
// It first signals the session's earlier messages that no turn has consumed and that this
// process has not signalled. So whichever processes signal a session, the first signals of
// its messages arrive in the order of their sequence numbers. If it fails,
// [Dispatcher.Reconcile] signals the message soon.
func (d *Dispatcher) Signal(ctx context.Context, m domain.Inbound) error {
	m.Previous = m.Seq - 1 // there may be earlier ones
	return d.signalOrDefer(ctx, m, false)
}

// SignalAccepted is [Dispatcher.Signal] for a message as the store returned it on
// acceptance. It reads no others if the message is the only one pending.
func (d *Dispatcher) SignalAccepted(ctx context.Context, m domain.Inbound) error {
	return d.signalOrDefer(ctx, m, false)
}

// SignalAgain is [Dispatcher.Signal] for a message whose signal may have been lost: it is
// repeated if this process has sent it before.
func (d *Dispatcher) SignalAgain(ctx context.Context, m domain.Inbound) error {
	m.Previous = m.Seq - 1
	return d.signalOrDefer(ctx, m, true)
}

func (d *Dispatcher) signalOrDefer(ctx context.Context, m domain.Inbound, again bool) error {
	err := d.sessions.get(m.Session).do(func(signalled int64) (int64, error) {
		return d.signalInOrder(ctx, m, signalled, again)
	})
	if err == nil {
		return nil
	}
	if postponed := d.store.Postpone(ctx, m.ID, time.Now().Add(reconcileInterval)); postponed != nil {
		d.log.Error("signal not rescheduled", "session", m.Session, "message", m.ID, "err", postponed)
	}
	return err
}

// signalInOrder signals a message after the earlier ones. Signalled is the sequence number
// up to which the session's messages are signalled, before and after.
func (d *Dispatcher) signalInOrder(ctx context.Context, m domain.Inbound, signalled int64, again bool) (int64, error) {
	for m.Previous > signalled {
		earlier, err := d.store.Pending(ctx, m.Session, signalled, m.Seq, pageSize)
		if err != nil {
			return signalled, fmt.Errorf("read the earlier messages of %s: %w", m.Session, err)
		}
		for _, e := range earlier {
			if err := d.signal(ctx, e); err != nil {
				return signalled, err
			}
			signalled = e.Seq
		}
		if len(earlier) < pageSize {
			break
		}
	}
	if m.Seq <= signalled && !again {
		return signalled, nil
	}
	if err := d.signal(ctx, m); err != nil {
		return signalled, err
	}
	return max(signalled, m.Seq), nil
}

// signal sends one signal.
func (d *Dispatcher) signal(ctx context.Context, m domain.Inbound) error {
	model, err := d.store.SessionModel(ctx, m.Session)
	if err != nil {
		return err
	}
	ref := protocol.NewMessageRef(m)
	ref.Preview = text.Cut(text.Line(m.Text), previewLimit)
	options := startOptions(protocol.WorkflowID(m.Session), title(m, ref.Preview), searchAttributes(m.Channel, m.Session, m.Sender))
	ctx, cancel := context.WithTimeout(ctx, signalTimeout)
	defer cancel()
	_, err = d.sdk.SignalWithStartWorkflow(ctx, options.ID, protocol.MessageSignal, ref, options,
		protocol.SessionWorkflow, protocol.SessionInput{
			Session: domain.SessionRef{Key: m.Session, Channel: m.Channel}, Model: cmp.Or(model, d.model), Limits: d.limits,
		})
	if err != nil {
		return fmt.Errorf("signal %s: %w", options.ID, err)
	}
	return nil
}

// title is the title of a session's run in the UI: slack C1 · @ana: "deploy staging…".
func title(m domain.Inbound, preview string) string {
	title := strings.TrimSpace(m.Channel + " " + m.Chat)
	if who := cmp.Or(m.SenderName, m.Sender); who != "" {
		title += " · @" + who
	}
	if m.Command != "" {
		preview = "/" + string(m.Command)
	}
	return fmt.Sprintf("%s: %q", title, preview)
}

// SignalDecision tells a workflow that an approval was decided, unless the workflow has
// closed.
func (c *Client) SignalDecision(ctx context.Context, workflowID string, decision protocol.ApprovalDecision) error {
	ctx, cancel := context.WithTimeout(ctx, signalTimeout)
	defer cancel()
	if err := c.sdk.SignalWorkflow(ctx, workflowID, "", protocol.ApprovalSignal, decision); err != nil && !isNotFound(err) {
		return fmt.Errorf("signal %s: %w", workflowID, err)
	}
	return nil
}

// sessionsLimit bounds the sessions that a process remembers.
const sessionsLimit = 10_000

// sessions caches the state of the sessions that this process signals. It saves signals
// that the workflow would drop as duplicates; the order does not depend on it.
type sessions struct {
	mu    sync.Mutex
	byKey map[string]*session
}

func (s *sessions) get(key string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey == nil || len(s.byKey) >= sessionsLimit && s.byKey[key] == nil {
		s.byKey = map[string]*session{}
	}
	if s.byKey[key] == nil {
		s.byKey[key] = &session{lock: make(chan struct{}, 1)}
	}
	return s.byKey[key]
}

// session is one session that this process signals.
type session struct {
	lock      chan struct{} // holds one element while locked
	signalled int64         // every pending message up to this sequence number was signalled
	failedAt  time.Time
	err       error // at failedAt
}

// do calls signal, unless an attempt failed while it waited for its turn.
func (s *session) do(signal func(signalled int64) (int64, error)) error {
	began := time.Now()
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	if s.failedAt.After(began) {
		return s.err
	}
	if s.signalled, s.err = signal(s.signalled); s.err != nil {
		s.failedAt = time.Now()
	}
	return s.err
}
