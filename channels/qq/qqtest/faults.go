package qqtest

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Always is an unlimited number of calls.
const Always = -1

// Any matches every call: "token", "gateway", "me", "messages", "files", "media".
const Any = "*"

// Fault is how a call fails.
type Fault struct {
	Status     int // of HTTP; 0: 500
	Code       int // QQ's; 0: none
	RetryAfter time.Duration
	Cut        bool // cut the connection without an answer
}

// plan is the behaviour of future calls.
type plan struct {
	name  string
	left  int // or Always
	lose  bool
	fault Fault
}

// Call is a call of the API.
type Call struct {
	Name   string
	Path   string
	Body   map[string]any
	Status int // 0: cut
	Code   int // QQ's
}

// Calls returns the calls with a name, in order; Any: all.
func (s *Server) Calls(name string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Call
	for _, c := range s.calls {
		if name == Any || c.Name == name {
			found = append(found, c)
		}
	}
	return found
}

// Fail makes the next n calls, or Always, fail.
func (s *Server) Fail(name string, n int, f Fault) { s.plan(&plan{name: name, left: n, fault: f}) }

// LoseResponse executes the next n calls and cuts their connections instead of answering.
func (s *Server) LoseResponse(name string, n int) { s.plan(&plan{name: name, left: n, lose: true}) }

// Heal ends all faults.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planned = nil
}

func (s *Server) plan(p *plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planned = append(s.planned, p)
}

// fate returns how a call fares. The lock is held.
func (s *Server) fate(name string) *plan {
	at := slices.IndexFunc(s.planned, func(p *plan) bool { return p.left != 0 && (p.name == Any || p.name == name) })
	if at < 0 {
		return nil
	}
	p := s.planned[at]
	if p.left > 0 {
		p.left--
	}
	return p
}

// Expire ends the time for replies to a message.
func (s *Server) Expire(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.messages[id]; m != nil {
		m.expired = true
	}
}

// SetReplies changes how often a message can be answered.
func (s *Server) SetReplies(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = n
}

// Kick removes the bot from a group.
func (s *Server) Kick(chat string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kicked[chat] = true
}

// ExpireTokens makes all access tokens invalid.
func (s *Server) ExpireTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// cut closes a connection without an answer.
func cut(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }
