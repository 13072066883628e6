package chat

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// acceptTimeout bounds the handling of one delivery. By then, platforms have timed out
// and redeliver.
const acceptTimeout = 30 * time.Second

// ErrPanic is wrapped by the error of a delivery whose handling panicked.
var ErrPanic = errors.New("panic")

// inbox is the [Inbox] of one [Receiver.Run].
type inbox struct {
	*handler
	queues *queues
	work   context.Context // of deliveries in progress: ends some time after Run's
	ready  chan struct{}   // closed once Identify has succeeded
}

// Ready implements [Inbox].
func (in *inbox) Ready(ctx context.Context) error {
	select {
	case <-in.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Deliver implements [Inbox].
func (in *inbox) Deliver(ctx context.Context, d Delivery) (answer string, err error) {
	handled := make(chan struct{})
	in.Queue(ctx, d, func(a string, e error) {
		answer, err = a, e
		close(handled)
	})
	<-handled
	return answer, err
}

// Queue implements [Inbox].
func (in *inbox) Queue(ctx context.Context, d Delivery, done func(answer string, err error)) {
	var answer string
	var failed error
	job := func() { //nolint:contextcheck // handling that has begun does not stop when ctx ends
		defer RecoverPanic(&failed)
		ctx, cancel := context.WithTimeout(in.work, acceptTimeout)
		defer cancel()
		answer, failed = in.handle(ctx, d)
	}
	in.queues.add(ctx, d.origin().conversation(), job, func(err error) { done(answer, errors.Join(err, failed)) })
}

func (in *inbox) handle(ctx context.Context, d Delivery) (answer string, err error) {
	switch d := d.(type) {
	case *Post:
		return "", in.post(ctx, d)
	case *Change:
		return "", in.change(ctx, d)
	case *Click:
		return "", in.click(ctx, d)
	case *Command:
		return in.slash(ctx, d)
	case *Visit:
		in.showHome(&d.Origin, "") //nolint:contextcheck // it is shown in the background
		return "", nil
	}
	return "", fmt.Errorf("a delivery of type %T", d)
}

// Drain implements [Inbox].
func (in *inbox) Drain() error { return in.queues.drain() }

// Poll implements [Inbox].
func (in *inbox) Poll(ctx context.Context, name string, fetch Fetch) error {
	cursors := in.Cursors()
	if cursors == nil {
		return errors.New("the backend stores no cursors")
	}
	var cursor string
	read := func(ctx context.Context) (err error) {
		cursor, err = cursors.Read(ctx, name)
		return err
	}
	if err := Retry(ctx, in.log, "reading the cursor "+name, read); err != nil {
		return err
	}
	for {
		err := Retry(ctx, in.log, "receiving", func(ctx context.Context) error {
			news, next, err := fetch(ctx, cursor)
			if err == nil {
				err = in.DeliverAll(ctx, news)
			}
			if err != nil || next == cursor {
				return err
			}
			if err := cursors.Store(ctx, name, next); err != nil {
				return err
			}
			cursor = next
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// DeliverAll implements [Inbox].
func (in *inbox) DeliverAll(ctx context.Context, all []Delivery) error {
	conversations := map[string][]Delivery{}
	for _, d := range all {
		name := d.origin().conversation()
		conversations[name] = append(conversations[name], d)
	}
	handled := make(chan error, len(conversations))
	for _, deliveries := range conversations {
		go func() { handled <- in.deliverEach(ctx, deliveries) }()
	}
	var failed error
	for range conversations {
		failed = errors.Join(failed, <-handled)
	}
	return failed
}

// deliverEach handles deliveries one after the other, up to the first error.
func (in *inbox) deliverEach(ctx context.Context, all []Delivery) error {
	for _, d := range all {
		if _, err := in.Deliver(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// RecoverPanic turns a panic into an error, so that one malformed delivery does not
// affect others. It must be deferred.
func RecoverPanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
	}
}
