package slacktest

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// Always is an unlimited number of calls.
const Always = -1

// Any matches every method. A method is one of the Web API's, or "link"
// (opening a WebSocket), "upload", "download" (of a file) or "response_url".
const Any = "*"

// Fault is how a call fails.
type Fault struct {
	Status     int    // of HTTP; 0: 200
	Error      string // Slack's; empty: "fatal_error"
	RetryAfter time.Duration
	Cut        bool   // cut the connection without an answer
	Channel    string // only calls for this channel; empty: all
}

type faults struct {
	planned []*plan
	slow    map[string]time.Duration
	before  map[string]func(Call)
	after   map[string]func(Call)
}

// plan is the behaviour of future calls of a method.
type plan struct {
	method string
	left   int // or Always
	every  int // 0: each call; n: each n-th
	seen   int
	lose   bool
	fault  *Fault
}

// Fail makes the next n calls of a method, or Always, fail.
func (s *Server) Fail(method string, n int, f Fault) {
	s.plan(&plan{method: method, left: n, fault: &f})
}

// RateLimit makes the next n calls of a method fail with 429.
func (s *Server) RateLimit(method string, n int, retryAfter time.Duration) {
	s.Fail(method, n, limited(retryAfter))
}

// RateLimitEvery makes every n-th call of a method fail with 429.
func (s *Server) RateLimitEvery(method string, n int, retryAfter time.Duration) {
	f := limited(retryAfter)
	s.plan(&plan{method: method, left: Always, every: n, fault: &f})
}

func limited(retryAfter time.Duration) Fault {
	return Fault{Status: http.StatusTooManyRequests, Error: "ratelimited", RetryAfter: retryAfter}
}

// LoseResponse executes the next n calls of a method and cuts their connections
// instead of answering.
func (s *Server) LoseResponse(method string, n int) {
	s.plan(&plan{method: method, left: n, lose: true})
}

func (s *Server) plan(p *plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.planned = append(s.faults.planned, p)
}

// Slow delays each call of a method.
func (s *Server) Slow(method string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.slow = put(s.faults.slow, method, d)
}

// Before calls f before each call of a method is executed or fails. The answer waits
// for f.
func (s *Server) Before(method string, f func(Call)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.before = put(s.faults.before, method, f)
}

// After calls f after each call of a method was executed and before it is answered. The
// answer waits for f.
func (s *Server) After(method string, f func(Call)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.after = put(s.faults.after, method, f)
}

// Heal removes all faults, delays and hooks.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults{}
}

func put[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}

func pick[V any](m map[string]V, method string) V {
	if value, is := m[method]; is {
		return value
	}
	return m[Any]
}

// fate is how a call is handled.
type fate struct {
	fault *Fault
	lose  bool
	after func(Call)
}

// meet runs the hook and the delay of a call and returns its fate.
func (s *Server) meet(ctx context.Context, c *Call) fate {
	s.mu.Lock()
	before, slow := pick(s.faults.before, c.Method), pick(s.faults.slow, c.Method)
	s.mu.Unlock()
	if before != nil {
		before(c.clone())
	}
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := fate{after: pick(s.faults.after, c.Method)}
	for _, p := range s.faults.planned {
		if p.strikes(c) {
			out.fault, out.lose = p.fault, p.lose
			break
		}
	}
	s.faults.planned = slices.DeleteFunc(s.faults.planned, func(p *plan) bool { return p.left == 0 })
	return out
}

func (p *plan) strikes(c *Call) bool {
	if p.method != c.Method && p.method != Any || p.left == 0 {
		return false
	}
	if p.fault != nil && p.fault.Channel != "" && p.fault.Channel != c.channel() {
		return false
	}
	p.seen++
	if p.every > 0 && p.seen%p.every != 0 {
		return false
	}
	if p.left > 0 {
		p.left--
	}
	return true
}

func (c *Call) channel() string {
	if id := c.Args["channel"]; id != "" {
		return id
	}
	return c.Args["channel_id"]
}

func (s *Server) answerFault(w http.ResponseWriter, c *Call, f *Fault) {
	if f.Cut {
		s.answered(c, 0, "", "")
		cut(w)
		return
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", seconds(f.RetryAfter))
	}
	code, status := f.Error, f.Status
	if code == "" {
		code = "fatal_error"
	}
	if status == 0 {
		status = http.StatusOK
	}
	s.answer(w, c, status, reply{"ok": false, "error": code})
}

// cut closes a connection without an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}
