package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

const (
	// watchInterval is how often a watcher reads the store: events may be lost or happen in
	// a process without a bus to this one.
	watchInterval = time.Second
	// currentEpoch asks the store for a session's transcript since its last fresh start.
	currentEpoch = -1
	// transcriptLimit, unansweredLimit and backgroundLimit bound what one call returns.
	transcriptLimit = 1000
	unansweredLimit = 1000
	backgroundLimit = 100
)

// Message implements [channels.Backend].
func (s *Starter) Message(ctx context.Context, id string) (domain.Reply, error) {
	inbound, turn, err := s.o.Store.MessageState(ctx, id)
	if err != nil {
		return domain.Reply{}, fmt.Errorf("look up a message: %w", err)
	}
	state := domain.Reply{Message: inbound.ID, Session: inbound.Session, Status: domain.ReplyQueued}
	if turn == nil {
		// No client may be watching an earlier turn that answers no person.
		if !inbound.Push && inbound.Command == domain.CommandNone {
			state.Approvals, err = s.o.Store.WaitingApprovals(ctx, inbound.Route())
		}
		return state, err
	}
	state.Turn, state.Text, state.Usage = turn.ID, turn.Reply, turn.Usage
	if state.Status = turn.Status.Reply(); !state.Status.Ended() {
		state.Approvals, err = s.o.Store.WaitingApprovals(ctx, inbound.Route())
	}
	return state, err
}

// Known implements [channels.Requests].
func (s *Starter) Known(ctx context.Context, channel, chat, thread string) (bool, error) {
	return s.o.Store.Known(ctx, domain.SessionKey(channel, chat, thread))
}

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
	// The store has what happened before the subscription and what no event reports.
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
			case !open: // the bus is closed; only the ticker remains
				events = nil
			case e.Kind == event.Done:
				on(event.Event{Kind: event.Done})
				return nil
			case e.Kind != event.TurnJoined:
				tell(e)
			case e.Text != turn:
				// The message joined this turn: follow the turn's events.
				turn, look = e.Text, true
				cancel()
				events, cancel = s.o.Events.Subscribe(turn)
				on(event.Event{Kind: event.TurnJoined, Text: turn})
			}
		}
	}
}

// look tells the approvals that block a message and reports whether its status is final. A
// message that is not accepted yet may still be.
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

// Background implements [channels.Sessions].
func (s *Starter) Background(ctx context.Context, session string, after time.Time) ([]domain.BackgroundReply, error) {
	return s.o.Store.BackgroundReplies(ctx, session, after, backgroundLimit)
}
