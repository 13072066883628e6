package whatsapptest

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
	Code       int // Meta's; 0: the answer is none of Meta's
	RetryAfter time.Duration
	Cut        bool // cut the connection without an answer
}

// Fail makes the next n calls, or Always, fail.
func (s *Server) Fail(name string, n int, f Fault) {
	fault := faulty.Fault{}
	if status := cmp.Or(f.Status, http.StatusInternalServerError); !f.Cut {
		fault = faulty.JSON(status, object{})
		if f.Code != 0 {
			fault = faulty.JSON(status, refuse(status, f.Code, http.StatusText(status)).body)
		}
	}
	if f.RetryAfter > 0 {
		fault.Header.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	s.Server.Fail(name, n, fault)
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
