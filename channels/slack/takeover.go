package slack

import (
	"context"
	"sync"
	"time"
)

// drafts lets a draft's edits and the reply that it becomes follow each other, as
// far as both are made in this process. The zero value is ready.
type drafts struct {
	mu   sync.Mutex
	open map[string]*draftLock // by the platform's ID of the draft
}

// draftLock is held during each edit of a draft, and can be taken away for good.
type draftLock struct {
	drafts *drafts
	id     string
	held   chan struct{} // has an element while an edit is under way
	taken  chan struct{} // closed once the reply took the draft over
	once   sync.Once
}

// lock returns the lock of a draft, which has to be closed.
func (d *drafts) lock(id string) *draftLock {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[string]*draftLock{}
	}
	l := &draftLock{drafts: d, id: id, held: make(chan struct{}, 1), taken: make(chan struct{})}
	d.open[id] = l
	return l
}

// isOpen reports whether this process shows that draft.
func (d *drafts) isOpen(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[id] != nil
}

// each is how often each of the open drafts may be changed, if one alone may once in
// a while: Slack counts the changes of all.
func (d *drafts) each(while time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return while * time.Duration(max(1, len(d.open)))
}

// take is called before a reply takes a draft over: no edit of the draft begins any
// more. It waits for one that is under way, unless ctx ends.
func (d *drafts) take(ctx context.Context, id string) {
	d.mu.Lock()
	l := d.open[id]
	d.mu.Unlock()
	if l == nil {
		return
	}
	l.once.Do(func() { close(l.taken) })
	select {
	case l.held <- struct{}{}:
		<-l.held
	case <-ctx.Done():
	}
}

// edit calls f, unless the reply took the draft over. It reports whether it did.
func (l *draftLock) edit(f func()) bool {
	l.held <- struct{}{}
	defer func() { <-l.held }()
	if l.isTaken() {
		return false
	}
	f()
	return true
}

func (l *draftLock) isTaken() bool {
	select {
	case <-l.taken:
		return true
	default:
		return false
	}
}

func (l *draftLock) close() {
	l.drafts.mu.Lock()
	defer l.drafts.mu.Unlock()
	delete(l.drafts.open, l.id)
}
