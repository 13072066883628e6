package discordtest

import (
	"net/http"
	"strings"
	"time"
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
	Delay  time.Duration // before it is carried out
}

// Inject makes the next calls that match a fault fail.
func (s *Server) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// LoseAnswers has the next n calls carried out, but not answered.
func (s *Server) LoseAnswers(method, path string, n int) {
	s.Inject(Fault{Method: method, Path: path, Times: n})
}

// fault takes the fault of a call; nil if there is none. The mutex is held.
func (s *Server) fault(r *http.Request, path string) *Fault {
	for _, f := range s.faults {
		if f.Times > 0 && (f.Method == "" || f.Method == r.Method) && strings.HasSuffix(path, f.Path) {
			f.Times--
			return f
		}
	}
	return nil
}

// Calls returns the calls whose method and end of the path match.
func (s *Server) Calls(method, path string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Call
	for _, c := range s.calls {
		if (method == "" || c.Method == method) && strings.HasSuffix(c.Path, path) {
			found = append(found, c)
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
