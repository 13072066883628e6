package starter

// Settle waits until all that was accepted is signalled, or left to the sweeper.
func (s *Starter) Settle() { s.signals.wait() }
