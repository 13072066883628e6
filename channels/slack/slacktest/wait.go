package slacktest

import "context"

// Await waits until cond, which is asked again after everything that happens at
// the server. It may call the server. The error is that of ctx.
func (s *Server) Await(ctx context.Context, cond func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// act takes the lock. What it returns gives the lock back, and wakes those who
// wait.
func (s *Server) act() (done func()) {
	s.mu.Lock()
	return func() {
		s.change()
		s.mu.Unlock()
	}
}

// change wakes those who wait. The lock is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}
