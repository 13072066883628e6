package starter

// Settle waits until every accepted message is signalled, or its signal has failed.
func (s *Starter) Settle() { s.signals.Wait() }
