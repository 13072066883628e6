package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// Discord bans an address for 10,000 calls with an invalid answer in 10 minutes.
	invalidWindow = 10 * time.Minute
	maxInvalid    = 5_000
)

// The codes of Discord's answers that we distinguish.
const (
	unknownMessage  = 10008
	notOurMessage   = 50005
	alreadyAnswered = 40060 // an interaction
	noRight         = 50013
)

var errWrongToken = errors.New("channels.discord.token is not valid")

// failure returns the error of an answer that reports one.
func (p *platform) failure(got *web.Answer) error {
	var answer problem
	var why error
	if json.Unmarshal(got.Body, &answer) == nil && (answer.Code != 0 || answer.Message != "") {
		why = answer
	}
	failed := got.Refused(why)
	switch status := got.Status; {
	case status == http.StatusTooManyRequests:
		failed.RetryAfter = max(failed.RetryAfter, time.Duration(min(answer.RetryAfter, 86400)*float64(time.Second)))
		if answer.Global || got.Header.Get("X-RateLimit-Global") != "" {
			p.limits.Hold("", "", failed.RetryAfter)
		}
		if got.Header.Get("X-RateLimit-Scope") != "shared" {
			p.invalid.add()
		}
	case status == http.StatusUnauthorized:
		p.invalid.add()
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, web.OperatorDelay
		failed.Err = fmt.Errorf("%w: %w", failed.Err, errWrongToken)
	case why == nil: // Discord itself answers in JSON: this is a proxy, or a ban of the address
	case status == http.StatusForbidden, status == http.StatusNotFound && answer.Code != unknownMessage:
		if status == http.StatusForbidden {
			p.invalid.add()
		}
		failed.Err = fmt.Errorf("%w: %w", channels.ErrGone, failed.Err)
	}
	return failed
}

// invalidCalls counts the calls that Discord counts against us.
type invalidCalls struct {
	mu    sync.Mutex
	began time.Time
	count int
}

func (c *invalidCalls) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.began) > invalidWindow {
		c.began, c.count = time.Now(), 0
	}
	c.count++
}

// check returns the error of a call that is not made, since too many were invalid.
func (c *invalidCalls) check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := invalidWindow - time.Since(c.began)
	if c.count < maxInvalid || rest <= 0 {
		return nil
	}
	return &remote.Error{
		Service: Name, Status: http.StatusTooManyRequests, RetryAfter: rest,
		Err: fmt.Errorf("%d calls were invalid in the last 10 minutes, and discord bans after 10,000", c.count),
	}
}
