package slack

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
)

// SetPingTimeout changes how long a connection may be silent.
func (c *Channel) SetPingTimeout(d time.Duration) { c.pingTimeout = d }

// Take handles a delivery as both transports do. It reports a panic, and returns
// the error that keeps it from being acknowledged.
func (c *Channel) Take(ctx context.Context, b channels.Backend, self Identity, kind string, payload []byte) (panicked bool, err error) {
	r := &receiver{c: c, b: b, log: c.log, lanes: newLanes(), work: ctx}
	r.telling.SetLimit(maxTelling)
	r.self.Store(&self)
	j, err := r.read(kind, payload)
	if err != nil || j.do == nil {
		return errors.Is(err, errPanic), err
	}
	at, err := r.lanes.enter(ctx, j.lane)
	if err != nil {
		return false, err
	}
	defer at.leave()
	_, err = r.perform(ctx, at, j)
	return errors.Is(err, errPanic), err
}
