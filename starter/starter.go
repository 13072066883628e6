// Package starter accepts inbound messages: each is made durable, then signalled
// to its session's workflow, and only then acknowledged. It runs the channels'
// receivers and is the [channels.Backend] that they ask.
package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	// acceptPatience is how long a message waits for its signal before it is
	// acknowledged anyway: it is durable, and a platform gives up on us after seconds.
	acceptPatience = 100 * time.Millisecond
	// signalTimeout bounds one signal. To cancel one that an engine under load has got
	// to already would be work for nothing.
	signalTimeout = 10 * time.Second
	// workflowTaskTimeout is after how long a workflow task whose worker died is
	// given to another.
	workflowTaskTimeout = 5 * time.Second
)

// Options are what a [Starter] works with. All but Logger and Metrics are required.
type Options struct {
	Client        client.Client
	Store         *store.Store
	Events        event.Bus
	Model         string           // as configured, for the UI
	Steps         int              // model calls in a turn
	SubagentSteps int              // the same, of a subagent
	Steer         bool             // messages of the same sender join a running turn
	Metrics       *metrics.Metrics // nil: nothing is counted
	Logger        *slog.Logger
}

// Starter turns inbound messages into workflow starts. Safe for concurrent use.
type Starter struct {
	o       Options
	log     *slog.Logger
	signals order
	held    held
}

// New returns a starter.
func New(o Options) (*Starter, error) {
	if o.Client == nil || o.Store == nil || o.Events == nil {
		return nil, errors.New("starter: client, store and events are required")
	}
	if o.Steps < 1 {
		return nil, errors.New("starter: a turn needs at least one step")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Starter{o: o, log: o.Logger}, nil
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
	accepted := channels.Accepted{
		Message: stored.ID, Session: stored.Session, WorkflowID: protocol.WorkflowID(stored.Session), Duplicate: !fresh,
	}
	if stored.Turn != "" {
		return accepted, nil
	}
	// The caller may go away; what is durable is to be signalled all the same.
	ctx = context.WithoutCancel(ctx)
	signalled := s.signals.add(stored.Session, func() { s.bring(ctx, stored) })
	timer := time.NewTimer(acceptPatience)
	defer timer.Stop()
	select {
	case <-signalled:
	case <-timer.C:
	}
	failpoint.Hit("accept.signalled")
	return accepted, nil
}

// command is what a message asks of the session itself. A word is an answer where a
// question waits for one.
func (s *Starter) command(ctx context.Context, msg domain.Inbound) (domain.Command, error) {
	if command, _ := domain.ParseCommand(msg.Text); command != domain.CommandNone {
		return command, nil
	}
	answer, id := domain.ParseAnswer(msg.Text)
	if answer == domain.CommandNone {
		return domain.CommandNone, nil
	}
	waiting, err := s.o.Store.WaitingApprovals(ctx, domain.Route{Channel: msg.Channel, Chat: msg.Chat, Thread: msg.Thread})
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

// bring signals an accepted message, or leaves it to the sweeper.
func (s *Starter) bring(ctx context.Context, m domain.Inbound) {
	err := s.signalInOrder(ctx, m)
	if err == nil {
		return
	}
	s.log.Warn("message accepted but not signalled, the sweeper will", "session", m.Session, "err", err)
	s.held.add(m.Session, m.ID)
	if err := s.o.Store.Postpone(ctx, m.ID, time.Now().Add(sweepInterval)); err != nil {
		s.log.Error("sweep not scheduled", "session", m.Session, "err", err)
	}
}

// errBehind is returned for a message that has to wait for one before it.
var errBehind = errors.New("an earlier message of the session is not signalled yet")

// signalInOrder signals a message that has just arrived, unless an earlier one of
// its session is held.
func (s *Starter) signalInOrder(ctx context.Context, m domain.Inbound) error {
	if s.held.any(m.Session) {
		return errBehind
	}
	return s.signal(ctx, m)
}

// signal tells a message's session of it, starting the session if need be.
func (s *Starter) signal(ctx context.Context, m domain.Inbound) error {
	ref := domain.SessionRef{Key: m.Session, Channel: m.Channel}
	model, err := s.o.Store.SessionModel(ctx, m.Session)
	if err != nil {
		return err
	}
	preview := text.Cut(text.Line(m.Text), previewLimit)
	ctx, cancel := context.WithTimeout(ctx, signalTimeout)
	defer cancel()
	_, err = s.o.Client.SignalWithStartWorkflow(ctx, protocol.WorkflowID(m.Session),
		protocol.MessageSignal, protocol.MessageRef{
			ID: m.ID, Sender: m.Sender, Command: m.Command, Join: !m.Queue, Preview: preview, Child: m.Child,
		},
		client.StartWorkflowOptions{
			TaskQueue:             protocol.AgentQueue,
			WorkflowTaskTimeout:   workflowTaskTimeout,
			StaticSummary:         summary(m, preview),
			TypedSearchAttributes: searchAttributes(m),
		},
		protocol.SessionWorkflow, protocol.SessionInput{
			Session: ref, Model: cmp.Or(model, s.o.Model), Limits: protocol.Limits{Steps: s.o.Steps, SubagentSteps: s.o.SubagentSteps},
		})
	if err != nil {
		return fmt.Errorf("signal %s: %w", protocol.WorkflowID(m.Session), err)
	}
	return nil
}

// previewLimit bounds, in bytes, what a summary shows of a message.
const previewLimit = 120

// summary is a run's title in the UI: slack C1 · @ana: "deploy staging…".
func summary(m domain.Inbound, preview string) string {
	who := m.SenderName
	if who == "" {
		who = m.Sender
	}
	if m.Command != "" {
		preview = "/" + string(m.Command)
	}
	return text.Cut(fmt.Sprintf("%s %s · @%s: %q", m.Channel, m.Chat, who, preview), 2*previewLimit)
}

var (
	channelAttribute = temporal.NewSearchAttributeKeyKeyword(protocol.SearchChannel)
	sessionAttribute = temporal.NewSearchAttributeKeyKeyword(protocol.SearchSession)
	senderAttribute  = temporal.NewSearchAttributeKeyKeyword(protocol.SearchSender)
)

func searchAttributes(m domain.Inbound) temporal.SearchAttributes {
	return temporal.NewSearchAttributes(
		channelAttribute.ValueSet(m.Channel),
		sessionAttribute.ValueSet(text.Cut(m.Session, 255)),
		senderAttribute.ValueSet(text.Cut(m.Sender, 255)),
	)
}
