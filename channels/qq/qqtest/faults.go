package qqtest

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// Always is an unlimited number of calls.
const Always = faulty.Always

// Fault is how a call fails.
type Fault struct {
	Status     int // of HTTP; 0: 500
	Code       int // QQ's; 0: none
	RetryAfter time.Duration
	Cut        bool // cut the connection without an answer
}

// Fail makes the next n calls, or Always, fail.
func (s *Server) Fail(name string, n int, f Fault) {
	fault := faulty.Fault{}
	if !f.Cut {
		status := cmp.Or(f.Status, http.StatusInternalServerError)
		fault = faulty.JSON(status, refuse(status, f.Code, http.StatusText(status)).body)
	}
	if f.RetryAfter > 0 {
		fault.Header.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	s.Server.Fail(name, n, fault)
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
