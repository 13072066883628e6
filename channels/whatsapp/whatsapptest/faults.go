package whatsapptest

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Always is an unlimited number of calls.
const Always = -1

// Fault is how a call fails.
type Fault struct {
	Status     int // of HTTP; 0: 500
	Code       int // Meta's; 0: the answer is none of Meta's
	RetryAfter time.Duration
	Cut        bool // cut the connection without an answer
}

type plan struct {
	name  string
	left  int // or Always
	lose  bool
	fault Fault
}

// Call is a call of the API: "messages", "media" (an upload), "number", "file" (what is known
// of one) or "download".
type Call struct {
	Name   string
	Body   map[string]any
	Status int // 0: cut
}

// Calls returns the calls with a name, in order.
func (s *Server) Calls(name string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Call
	for _, c := range s.calls {
		if c.Name == name {
			found = append(found, c)
		}
	}
	return found
}

// Fail makes the next n calls, or Always, fail.
func (s *Server) Fail(name string, n int, f Fault) { s.plan(&plan{name: name, left: n, fault: f}) }

// LoseResponse executes the next n calls and cuts their connections instead of answering.
func (s *Server) LoseResponse(name string, n int) { s.plan(&plan{name: name, left: n, lose: true}) }

func (s *Server) plan(p *plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planned = append(s.planned, p)
}

// fate returns how a call fares. The lock is held.
func (s *Server) fate(name string) *plan {
	at := slices.IndexFunc(s.planned, func(p *plan) bool { return p.left != 0 && p.name == name })
	if at < 0 {
		return nil
	}
	p := s.planned[at]
	if p.left > 0 {
		p.left--
	}
	return p
}

// Wrote sets when a person wrote last.
func (s *Server) Wrote(person string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrote[person] = at
}

// Limit closes the window of a person after n more messages.
func (s *Server) Limit(person string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget[person] = n
}

// Leave has a person leave WhatsApp.
func (s *Server) Leave(person string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone[person] = true
}

// Mute has the server report nothing any more.
func (s *Server) Mute() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = true
}

// cut closes a connection without an answer.
func cut(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }
