package slack

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	firstPause = 100 * time.Millisecond // before Slack is asked again
	lastPause  = 30 * time.Second
	// graceTimeout bounds how long what was taken from Slack may take to be accepted
	// once Run is to end.
	graceTimeout = 5 * time.Second
)

// Run implements [channels.Receiver]. When ctx ends, what Slack delivered is
// accepted and acknowledged within 5 seconds, or neither; then it returns nil. An
// error is one that waiting does not mend, such as an address that is taken; a token
// that Slack refuses is tried again.
func (c *Channel) Run(ctx context.Context, b channels.Backend) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &receiver{c: c, b: b, log: c.log, lanes: newLanes(), work: work, ready: make(chan struct{})}
	r.telling.SetLimit(maxTelling)
	receiving, stop := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { c.housekeep(receiving, b) })
	defer func() {
		cancel()
		stop()
		r.jobs.Wait()
		keeping.Wait()
		_ = r.telling.Wait() // its errors were logged
	}()
	var err error
	if c.o.Mode == ModeHTTP {
		err = r.runHTTP(receiving)
	} else {
		err = r.runSocket(receiving)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// identify asks Slack who we are until it says so. The error is one that waiting
// does not mend, or that of ctx.
func (r *receiver) identify(ctx context.Context) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		self, err := r.c.Identify(ctx)
		if err == nil {
			r.self.Store(&self)
			close(r.ready)
			r.log.Info("connected to the workspace", "team", self.Team, "team_id", self.TeamID, "user_id", self.UserID)
			return nil
		}
		wait := pause
		if failed := remote.As(err); failed != nil {
			if failed.Permanent() {
				return fmt.Errorf("%w; check channels.slack.bot_token", err)
			}
			wait = max(wait, failed.RetryAfter)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if why := misconfigured[code(err)]; why != "" {
			r.log.Error("slack refuses us, will ask again; check channels.slack.bot_token", "why", why, "in", wait.String(), "err", err)
		} else {
			r.log.Warn("slack does not tell who we are, will ask again", "in", wait.String(), "err", err)
		}
		if !sleep(ctx, wait) {
			return ctx.Err()
		}
	}
}

// drain waits for what was taken from Slack, but not for ever.
func (r *receiver) drain() error {
	done := make(chan struct{})
	go func() {
		r.jobs.Wait()
		close(done)
	}()
	timer := time.NewTimer(graceTimeout)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return errors.New("messages were still being accepted")
	}
}

// sleep waits for d and reports whether ctx is still on.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
