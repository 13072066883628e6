package slacktest

import "context"

// Await waits until cond is true. It checks cond after every change of the server; cond
// may call the server. The error is that of ctx.
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

// act takes the lock and returns a function that releases it and wakes waiters.
func (s *Server) act() (done func()) {
	s.mu.Lock()
	return func() {
		s.change()
		s.mu.Unlock()
	}
}

// change wakes waiters. The lock is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}
