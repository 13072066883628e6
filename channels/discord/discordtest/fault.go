package discordtest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// Call is a call of the API.
type Call struct {
	Method string
	Path   string // without /api/v10
	Body   string
	Status int // 0: it was not answered
}

// Fault is what happens to calls.
type Fault struct {
	Method string // empty: any
	Path   string // its end; empty: any
	Times  int
	Status int           // refused with this status; 0: carried out, but not answered
	Code   int           // Discord's, with Status
	Wait   time.Duration // to retry after, with status 429
	Global bool          // the limit is that of all calls
	Body   string        // instead of Discord's JSON
}

// Inject makes the next calls that match a fault fail.
func (s *Server) Inject(f Fault) {
	body := map[string]any{"message": "injected", "code": f.Code}
	if f.Status == http.StatusTooManyRequests {
		body["retry_after"], body["global"] = f.Wait.Seconds(), f.Global
	}
	fault := faulty.JSON(f.Status, body)
	switch {
	case f.Status == 0:
		fault = faulty.Fault{Lose: true}
	case f.Body != "":
		fault.Body = f.Body
	case f.Status == http.StatusTooManyRequests:
		fault.Header.Set("Retry-After", strconv.Itoa(int(f.Wait.Seconds()+0.999)))
	}
	s.FailSome(func(call string) bool { return matches(call, f.Method, f.Path) }, f.Times, fault)
}

func matches(call, method, path string) bool {
	called, at, _ := strings.Cut(call, " ")
	return (method == "" || method == called) && strings.HasSuffix(at, path)
}

// LoseAnswers has the next n calls carried out, but not answered.
func (s *Server) LoseAnswers(method, path string, n int) {
	s.Inject(Fault{Method: method, Path: path, Times: n})
}

// Calls returns the calls whose method and end of the path match.
func (s *Server) Calls(method, path string) []Call {
	var found []Call
	for _, c := range s.Made(faulty.Any) {
		if matches(c.Method, method, path) {
			_, at, _ := strings.Cut(c.Method, " ")
			found = append(found, Call{c.Request.Method, at, string(c.Content), c.Status})
		}
	}
	return found
}

// bucket is a rate limit of messages in a channel.
type bucket struct {
	left  int
	reset time.Time
}

// take takes one from the limit of a channel, and returns what is left and when there is
// more. The mutex is held.
func (s *Server) take(channel string) (left int, reset time.Duration) {
	b := s.buckets[channel]
	now := time.Now()
	if b == nil || now.After(b.reset) {
		b = &bucket{left: s.limit, reset: now.Add(s.window)}
		s.buckets[channel] = b
	}
	b.left--
	return b.left, b.reset.Sub(now)
}
