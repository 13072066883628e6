// Package starter accepts inbound messages: it stores each one, signals its session's
// workflow, and returns after 100 ms at the latest, so that the message can be
// acknowledged. A signal that fails is repeated by the dispatcher. The package runs the channels' receivers and is
// the [channels.Backend] that they use.
package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// signalWait bounds how long a message waits for its signal before it is acknowledged:
// it is stored, and platforms give up after seconds.
const signalWait = 100 * time.Millisecond

// Dispatcher signals messages to their sessions' workflows, in the order of acceptance.
// What it fails to signal it signals later.
type Dispatcher interface {
	// SignalAccepted signals a message that has just been accepted.
	SignalAccepted(context.Context, domain.Inbound) error
	// SignalAgain signals a message that was delivered again.
	SignalAgain(context.Context, domain.Inbound) error
}

// Options configure a [Starter]. Metrics and Logger are optional.
type Options struct {
	Dispatcher Dispatcher
	Store      *store.Store
	Events     event.Bus
	Names      protocol.Names
	Steer      bool // messages of the same sender join a running turn
	Home       HomeOptions
	Metrics    *metrics.Metrics
	Logger     *slog.Logger
}

// Starter accepts messages and runs receivers. Safe for concurrent use.
type Starter struct {
	channels.Cursors

	o       Options
	log     *slog.Logger
	signals sync.WaitGroup // being sent
}

// New returns a starter.
func New(o Options) (*Starter, error) {
	if o.Dispatcher == nil || o.Store == nil || o.Events == nil {
		return nil, errors.New("starter: dispatcher, store and events are required")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Starter{Cursors: o.Store, o: o, log: o.Logger}, nil
}

// Accept implements [channels.Backend].
func (s *Starter) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	failpoint.Hit("accept.start")
	command, err := s.command(ctx, msg)
	if err != nil {
		return channels.Accepted{}, err
	}
	msg.ID = domain.MessageID(msg.Channel, msg.Scope, msg.PlatformID)
	msg.Session = domain.SessionKey(msg.Channel, msg.Chat, msg.Thread)
	msg.Command, msg.Queue = command, msg.Queue || !s.o.Steer
	stored, fresh, err := s.o.Store.Accept(ctx, msg)
	switch {
	case errors.Is(err, domain.ErrConflict):
		return channels.Accepted{}, domain.ErrConflict
	case err != nil:
		return channels.Accepted{}, fmt.Errorf("accept a message: %w", err)
	}
	if fresh {
		s.o.Metrics.Accepted(msg.Channel)
	}
	failpoint.Hit("accept.stored")
	if stored.Turn == "" {
		s.signal(ctx, stored, fresh)
		failpoint.Hit("accept.signalled")
	}
	return channels.Accepted{
		Message: stored.ID, Session: stored.Session, WorkflowID: s.o.Names.Session(stored.Session), Duplicate: !fresh,
	}, nil
}

// signal signals a message, and returns when that is done or has taken signalWait.
func (s *Starter) signal(ctx context.Context, m domain.Inbound, fresh bool) {
	ctx = context.WithoutCancel(ctx) // the message is stored, even if the caller leaves
	done := make(chan struct{})
	s.signals.Go(func() {
		defer close(done)
		signal := s.o.Dispatcher.SignalAccepted
		if !fresh {
			signal = s.o.Dispatcher.SignalAgain
		}
		if err := signal(ctx, m); err != nil {
			s.log.Warn("message accepted but not signalled yet", "session", m.Session, "err", err)
		}
	})
	select {
	case <-done:
	case <-time.After(signalWait):
	}
}

// command returns the message's command. A word such as "yes" is one if it answers a
// waiting approval.
func (s *Starter) command(ctx context.Context, msg domain.Inbound) (domain.Command, error) {
	if command, _ := domain.ParseCommand(msg.Text); command != domain.CommandNone {
		return command, nil
	}
	answer, id := domain.ParseAnswer(msg.Text)
	if answer == domain.CommandNone {
		return domain.CommandNone, nil
	}
	waiting, err := s.o.Store.WaitingApprovals(ctx, msg.Route())
	if err != nil {
		return domain.CommandNone, fmt.Errorf("accept a message: %w", err)
	}
	for _, w := range waiting {
		if id == "" || id == w.ID {
			return answer, nil
		}
	}
	return domain.CommandNone, nil
}
