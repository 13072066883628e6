package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"math"
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
	err := d.sessions.get(m.Session).do(func(last mark) (mark, error) {
		return d.signalInOrder(ctx, m, last, again)
	})
	if err == nil {
		return nil
	}
	if postponed := d.store.Postpone(ctx, m.ID, time.Now().Add(reconcileInterval)); postponed != nil {
		d.log.Error("signal not rescheduled", "session", m.Session, "message", m.ID, "err", postponed)
	}
	return err
}

// mark is how far a session's messages are signalled: up to the one with this sequence
// number, accepted then.
type mark struct {
	seq        int64
	acceptedAt time.Time
}

// covers reports whether a message was signalled. A later message with a lower number was
// not: the store is another one, such as a restored backup.
func (l mark) covers(m domain.Inbound) bool {
	return m.Seq <= l.seq && !m.AcceptedAt.After(l.acceptedAt)
}

// signalInOrder signals a message after the earlier ones. Last is how far the session's
// messages are signalled, before and after.
func (d *Dispatcher) signalInOrder(ctx context.Context, m domain.Inbound, last mark, again bool) (mark, error) {
	if m.Seq <= last.seq && !last.covers(m) {
		last = mark{}
	}
	for m.Previous > last.seq {
		earlier, err := d.store.Pending(ctx, m.Session, last.seq, m.Seq, pageSize)
		if err != nil {
			return last, fmt.Errorf("read the earlier messages of %s: %w", m.Session, err)
		}
		for _, e := range earlier {
			if err := d.signal(ctx, e); err != nil {
				return last, err
			}
			last = mark{e.Seq, e.AcceptedAt}
		}
		if len(earlier) < pageSize {
			break
		}
	}
	if last.covers(m) && !again {
		return last, nil
	}
	if err := d.signal(ctx, m); err != nil {
		return last, err
	}
	if m.Seq > last.seq {
		last = mark{m.Seq, m.AcceptedAt}
	}
	return last, nil
}

// signalPending signals the messages of a session that no turn has consumed, at most a
// page of them, even if this process has done so before. It returns the sequence number of
// the last one.
func (d *Dispatcher) signalPending(ctx context.Context, session string) (last int64, err error) {
	err = d.sessions.get(session).do(func(signalled mark) (mark, error) {
		pending, err := d.store.Pending(ctx, session, 0, math.MaxInt64, pageSize)
		for _, m := range pending {
			if err := d.signal(ctx, m); err != nil {
				return signalled, err
			}
			if last = m.Seq; last > signalled.seq {
				signalled = mark{m.Seq, m.AcceptedAt}
			}
		}
		return signalled, err
	})
	return last, err
}

// signal sends one signal.
func (d *Dispatcher) signal(ctx context.Context, m domain.Inbound) error {
	model, err := d.store.SessionModel(ctx, m.Session)
	if err != nil {
		return err
	}
	ref := protocol.NewMessageRef(m)
	ref.Preview = text.Cut(text.Line(m.Text), previewLimit)
	options := d.startOptions(d.names.Session(m.Session), title(m, ref.Preview), priority(m), searchAttributes(m.Channel, m.Session, m.Sender))
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
	lock     chan struct{} // holds one element while locked
	last     mark          // every pending message up to it was signalled
	failedAt time.Time
	err      error // at failedAt
}

// do calls signal, unless an attempt failed while it waited for its turn.
func (s *session) do(signal func(last mark) (mark, error)) error {
	began := time.Now()
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	if s.failedAt.After(began) {
		return s.err
	}
	if s.last, s.err = signal(s.last); s.err != nil {
		s.failedAt = time.Now()
	}
	return s.err
}
