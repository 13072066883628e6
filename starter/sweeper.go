package starter

import (
	"context"
	"fmt"
	"time"
)

const (
	// sweepInterval is how often the sweeper looks for messages that nobody took.
	sweepInterval = 5 * time.Second
	// sweepLimit bounds the messages of one sweep.
	sweepLimit = 500
)

// sweep signals accepted messages that no turn has consumed for a while: the
// signal failed, or was lost with its workflow. A session drops what it has
// already. The delay doubles with the message's age, so that one that waits
// behind a long turn costs little.
func (s *Starter) sweep(ctx context.Context) error {
	if err := s.forgetTaken(ctx); err != nil {
		return err
	}
	now := time.Now()
	overdue, err := s.o.Store.Unswept(ctx, now, sweepLimit)
	if err != nil {
		return fmt.Errorf("look for messages that nobody took: %w", err)
	}
	behind := map[string]bool{} // sessions with a message that has to come first
	for _, m := range overdue {
		if behind[m.Session] {
			continue
		}
		wait := max(sweepInterval, now.Sub(m.AcceptedAt))
		if err := s.signal(ctx, m); err != nil {
			s.log.Warn("message not signalled, will try again", "session", m.Session, "err", err)
			wait, behind[m.Session] = sweepInterval, true
		} else {
			s.held.remove(m.Session, m.ID)
		}
		if err := s.o.Store.Postpone(ctx, m.ID, now.Add(wait)); err != nil {
			return fmt.Errorf("postpone a sweep: %w", err)
		}
	}
	return nil
}

// forgetTaken lets go of held messages that were taken all the same: a signal
// that failed here may have reached its session.
func (s *Starter) forgetTaken(ctx context.Context) error {
	for session, messages := range s.held.all() {
		for _, id := range messages {
			m, err := s.o.Store.Inbound(ctx, id)
			if err != nil {
				return fmt.Errorf("look whether a message was taken: %w", err)
			}
			if m.Turn != "" {
				s.held.remove(session, id)
			}
		}
	}
	return nil
}

// Recover signals every accepted message that no turn has consumed, without
// waiting for the sweeper, which gets those that cannot be signalled now. It is
// called once, when the process starts.
func (s *Starter) Recover(ctx context.Context) error {
	if err := s.adoptOlder(ctx, 0); err != nil {
		s.log.Warn("turns without a workflow not looked after yet", "err", err)
	}
	if err := s.watchSubagentsOlder(ctx, 0); err != nil {
		s.log.Warn("subagents without a workflow not looked after yet", "err", err)
	}
	waiting, err := s.o.Store.Unconsumed(ctx, sweepLimit)
	if err != nil {
		return fmt.Errorf("look for messages that nobody took: %w", err)
	}
	behind := map[string]bool{}
	for _, m := range waiting {
		if behind[m.Session] {
			continue
		}
		if err := s.signal(ctx, m); err != nil {
			s.log.Warn("message not signalled, the sweeper will", "session", m.Session, "err", err)
			behind[m.Session] = true
			s.held.add(m.Session, m.ID)
			continue
		}
		s.held.remove(m.Session, m.ID)
	}
	return nil
}
