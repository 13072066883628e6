package starter

import "sync"

// order has what is to be done for one session done in order, and for different
// ones side by side. The zero value is ready.
type order struct {
	mu    sync.Mutex
	last  map[string]chan struct{} // closed once what was added last is done, by session
	group sync.WaitGroup
}

// add has f called in the background, after all that was added for the session
// before. It returns a channel that is closed once f is done.
func (o *order) add(session string, f func()) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	before, done := o.last[session], make(chan struct{})
	if o.last == nil {
		o.last = map[string]chan struct{}{}
	}
	o.last[session] = done
	o.group.Go(func() {
		defer o.finish(session, done)
		if before != nil {
			<-before
		}
		f()
	})
	return done
}

func (o *order) finish(session string, done chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last[session] == done {
		delete(o.last, session)
	}
	close(done)
}

// wait waits until all is done.
func (o *order) wait() { o.group.Wait() }
