package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// watchInterval is how often a watcher looks into the store itself, should an
// event have got lost or have happened in a process that has no bus to us.
const watchInterval = time.Second

// transcriptLimit bounds the messages of a transcript that a channel is shown.
const transcriptLimit = 1000

// MessageID implements [channels.Backend].
func (s *Starter) MessageID(channel, scope, id string) string {
	return protocol.MessageID(channel, scope, id)
}

// Message implements [channels.Backend].
func (s *Starter) Message(ctx context.Context, id string) (channels.MessageState, error) {
	inbound, turn, err := s.o.Store.MessageState(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return channels.MessageState{}, channels.ErrNotFound
	case err != nil:
		return channels.MessageState{}, fmt.Errorf("look up a message: %w", err)
	}
	state := channels.MessageState{Message: inbound.ID, Session: inbound.Session, Status: channels.Queued}
	if turn == nil {
		// Nobody may be there for a turn before it that nobody wrote for.
		if fetched := !inbound.Push && inbound.Command == ""; fetched {
			state.Approvals, err = s.approvals(ctx, inbound)
		}
		return state, err
	}
	state.Turn, state.Reply, state.Usage = turn.ID, turn.Reply, channels.Usage(turn.Usage)
	if state.Status = statusOf(turn.Status); state.Status.Ended() {
		state.Answered, err = s.answered(ctx, inbound)
	} else {
		state.Approvals, err = s.approvals(ctx, inbound)
	}
	if err != nil {
		return channels.MessageState{}, err
	}
	return state, nil
}

// answered is how the question stands that a message answered; nil if it is none that
// did, or there is no such question.
func (s *Starter) answered(ctx context.Context, m store.Inbound) (*channels.AnsweredApproval, error) {
	if command := protocol.Command(m.Command); command != protocol.CommandApprove && command != protocol.CommandDeny {
		return nil, nil
	}
	a, err := s.o.Store.ApprovalDecidedIn(ctx, m.ID)
	if errors.Is(err, store.ErrNotFound) {
		_, id := protocol.ParseAnswer(m.Text)
		a, err = s.o.Store.Approval(ctx, id)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look up what a message answered: %w", err)
	}
	return &channels.AnsweredApproval{ID: a.ID, Status: a.Status, By: a.DecidedBy, Counts: a.DecidedIn == m.ID}, nil
}

// approvals are the questions that wait for an answer where a message came from.
func (s *Starter) approvals(ctx context.Context, m store.Inbound) ([]channels.Approval, error) {
	rows, err := s.o.Store.WaitingApprovals(ctx, store.Route{Channel: m.Channel, Chat: m.Chat, Thread: m.Thread})
	if err != nil {
		return nil, fmt.Errorf("look up what a message waits for: %w", err)
	}
	var waiting []channels.Approval
	for _, row := range rows {
		waiting = append(waiting, channels.Approval{ID: row.ID, Tool: row.Tool, Title: row.Title, Arguments: row.Shown})
	}
	return waiting, nil
}

// Known implements [channels.Inbox].
func (s *Starter) Known(ctx context.Context, channel, chat, thread string) (bool, error) {
	return s.o.Store.Known(ctx, protocol.SessionKey(channel, chat, thread))
}

// unansweredLimit bounds the messages that a channel is told to be unanswered.
const unansweredLimit = 1000

// Unanswered implements [channels.Inbox].
func (s *Starter) Unanswered(ctx context.Context, channel string) ([]channels.Waiting, error) {
	rows, err := s.o.Store.Unanswered(ctx, channel, unansweredLimit)
	if err != nil {
		return nil, fmt.Errorf("look for unanswered messages: %w", err)
	}
	waiting := make([]channels.Waiting, len(rows))
	for i, row := range rows {
		waiting[i] = channels.Waiting{ID: row.ID, Message: row.Message()}
	}
	return waiting, nil
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
	if errors.Is(err, channels.ErrNotFound) {
		return false, nil
	}
	for _, a := range state.Approvals {
		tell(event.Event{Kind: event.Approval, ID: a.ID, Tool: a.Tool, Text: a.Arguments})
	}
	return state.Status.Ended(), err
}

// Transcript implements [channels.Backend].
func (s *Starter) Transcript(ctx context.Context, session string) ([]channels.TranscriptMessage, error) {
	if _, err := s.o.Store.Session(ctx, session); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return nil, channels.ErrNotFound
		}
		return nil, fmt.Errorf("look up a session: %w", err)
	}
	rows, err := s.o.Store.Transcript(ctx, session, currentEpoch, transcriptLimit)
	if err != nil {
		return nil, fmt.Errorf("read a transcript: %w", err)
	}
	messages := make([]channels.TranscriptMessage, len(rows))
	for i, row := range rows {
		messages[i] = channels.TranscriptMessage{
			Turn: row.Turn, Step: row.Step, Role: string(row.Role), Content: row.Content, Sender: row.Sender,
			Name: row.Name, ToolCallID: row.CallID, CreatedAt: row.CreatedAt,
		}
		for _, call := range row.ToolCalls {
			messages[i].ToolCalls = append(messages[i].ToolCalls, channels.ToolCall(call))
		}
	}
	return messages, nil
}

// unaskedLimit bounds the replies that a channel is told of at once.
const unaskedLimit = 100

// Unasked implements [channels.Backend].
func (s *Starter) Unasked(ctx context.Context, session string, after time.Time) ([]channels.UnaskedReply, error) {
	rows, err := s.o.Store.Unasked(ctx, session, after, unaskedLimit)
	if err != nil {
		return nil, fmt.Errorf("look for replies that came unasked: %w", err)
	}
	replies := make([]channels.UnaskedReply, len(rows))
	for i, row := range rows {
		replies[i] = channels.UnaskedReply{
			Turn: row.Turn.ID, Cause: channels.CauseSubagent, Label: row.Label,
			Status: statusOf(row.Turn.Status), Reply: row.Turn.Reply, EndedAt: row.Turn.EndedAt,
		}
		if row.Job != "" {
			replies[i].Cause = channels.CauseJob
		}
	}
	return replies, nil
}

// statusOf is a turn's status as a channel sees it.
func statusOf(status store.TurnStatus) channels.Status {
	switch status {
	case store.TurnDone:
		return channels.Done
	case store.TurnFailed, store.TurnStopped:
		return channels.Failed
	default:
		return channels.Running
	}
}

// currentEpoch asks the store for a session's transcript since its last fresh start.
const currentEpoch = -1
