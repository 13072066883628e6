package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// watchInterval is how often a watcher looks into the store itself, should an
// event have got lost or have happened in a process that has no bus to us.
const watchInterval = time.Second

// transcriptLimit bounds the messages of a transcript that a channel is shown.
const transcriptLimit = 1000

// Message implements [channels.Backend].
func (s *Starter) Message(ctx context.Context, id string) (domain.Reply, error) {
	inbound, turn, err := s.o.Store.MessageState(ctx, id)
	if err != nil {
		return domain.Reply{}, fmt.Errorf("look up a message: %w", err)
	}
	state := domain.Reply{Message: inbound.ID, Session: inbound.Session, Status: domain.ReplyQueued}
	if turn == nil {
		// No client may be watching an earlier turn that answers no person.
		if fetched := !inbound.Push && inbound.Command == ""; fetched {
			state.Approvals, err = s.approvals(ctx, inbound)
		}
		return state, err
	}
	state.Turn, state.Text, state.Usage = turn.ID, turn.Reply, turn.Usage
	if state.Status = turn.Status.Reply(); state.Status.Ended() {
		state.Answered, err = s.answered(ctx, inbound)
	} else {
		state.Approvals, err = s.approvals(ctx, inbound)
	}
	if err != nil {
		return domain.Reply{}, err
	}
	return state, nil
}

// answered is how the question stands that a message answered; nil if it is none that
// did, or there is no such question.
func (s *Starter) answered(ctx context.Context, m domain.Inbound) (*domain.AnsweredApproval, error) {
	if command := m.Command; command != domain.CommandApprove && command != domain.CommandDeny {
		return nil, nil
	}
	a, err := s.o.Store.ApprovalDecidedIn(ctx, m.ID)
	if errors.Is(err, domain.ErrNotFound) {
		_, id := domain.ParseAnswer(m.Text)
		a, err = s.o.Store.Approval(ctx, id)
	}
	switch {
	case errors.Is(err, domain.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look up what a message answered: %w", err)
	}
	return &domain.AnsweredApproval{ID: a.ID, Status: a.Status, By: a.DecidedBy, Counts: a.DecidedIn == m.ID}, nil
}

// approvals are the questions that wait for an answer where a message came from.
func (s *Starter) approvals(ctx context.Context, m domain.Inbound) ([]domain.Approval, error) {
	return s.o.Store.WaitingApprovals(ctx, domain.Route{Channel: m.Channel, Chat: m.Chat, Thread: m.Thread})
}

// Known implements [channels.Requests].
func (s *Starter) Known(ctx context.Context, channel, chat, thread string) (bool, error) {
	return s.o.Store.Known(ctx, domain.SessionKey(channel, chat, thread))
}

// unansweredLimit bounds the messages that a channel is told to be unanswered.
const unansweredLimit = 1000

// Unanswered implements [channels.Requests].
func (s *Starter) Unanswered(ctx context.Context, channel string) ([]domain.Inbound, error) {
	return s.o.Store.Unanswered(ctx, channel, unansweredLimit)
}

// Watch implements [channels.Backend].
func (s *Starter) Watch(ctx context.Context, id string, on func(event.Event)) error {
	events, cancel := s.o.Events.Subscribe(id)
	defer func() { cancel() }()
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	// What happened before a subscription, in a process that has no bus to us, or
	// in an event that got lost, is in the store.
	turn, look, asked := id, true, map[string]bool{}
	tell := func(e event.Event) {
		if e.Kind == event.Approval {
			if asked[e.ID] {
				return
			}
			asked[e.ID] = true
		}
		on(e)
	}
	for {
		if look {
			ended, err := s.look(ctx, id, tell)
			if err != nil {
				return err
			}
			if ended {
				on(event.Event{Kind: event.Done})
				return nil
			}
		}
		look = false
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			look = true
		case e, open := <-events:
			switch {
			case !open: // the bus is closed; the ticker is left
				events = nil
			case e.Kind == event.Done:
				on(event.Event{Kind: event.Done})
				return nil
			case e.Kind != event.TurnJoined:
				tell(e)
			case e.Text != turn:
				// From here on the other turn's events are this message's.
				turn, look = e.Text, true
				cancel()
				events, cancel = s.o.Events.Subscribe(turn)
				on(event.Event{Kind: event.TurnJoined, Text: turn})
			}
		}
	}
}

// look tells what a message waits for, and reports whether it has its final status.
// One that is not accepted yet has not.
func (s *Starter) look(ctx context.Context, id string, tell func(event.Event)) (ended bool, err error) {
	state, err := s.Message(ctx, id)
	if errors.Is(err, domain.ErrNotFound) {
		return false, nil
	}
	for _, a := range state.Approvals {
		tell(event.Event{Kind: event.Approval, ID: a.ID, Tool: a.Tool, Text: a.Arguments})
	}
	return state.Status.Ended(), err
}

// Transcript implements [channels.Sessions].
func (s *Starter) Transcript(ctx context.Context, session string) ([]domain.Message, error) {
	if _, err := s.o.Store.Session(ctx, session); err != nil {
		return nil, fmt.Errorf("look up a session: %w", err)
	}
	return s.o.Store.Transcript(ctx, session, currentEpoch, transcriptLimit)
}

// backgroundLimit bounds the background replies that are returned at once.
const backgroundLimit = 100

// Background implements [channels.Sessions].
func (s *Starter) Background(ctx context.Context, session string, after time.Time) ([]domain.BackgroundReply, error) {
	return s.o.Store.BackgroundReplies(ctx, session, after, backgroundLimit)
}

// currentEpoch asks the store for a session's transcript since its last fresh start.
const currentEpoch = -1
