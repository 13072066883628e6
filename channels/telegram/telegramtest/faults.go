package telegramtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// Any matches every method; Sends all that post a message.
const (
	Any   = faulty.Any
	Sends = "send*"
)

// Fault is how a call fails.
type Fault struct {
	Status      int    // Telegram's error_code, and the status
	Description string // empty: that of the status
	RetryAfter  int    // seconds
	Body        string // not empty: somebody else answers with it
	Cut         bool   // cut the connection; Telegram does nothing
}

// Fail makes the next n calls of a method fail.
func (s *Server) Fail(method string, n int, f Fault) {
	r := refused(f.Status, cmp.Or(f.Description, http.StatusText(f.Status)))
	if f.RetryAfter > 0 {
		r.Parameters = map[string]any{"retry_after": f.RetryAfter}
	}
	fault := faulty.JSON(f.Status, r)
	switch {
	case f.Cut:
		fault = faulty.Fault{}
	case f.Body != "":
		fault.Body = f.Body
	}
	s.FailSome(of(method), n, fault)
}

// TooMany makes the next n calls of a method fail with 429.
func (s *Server) TooMany(method string, n, seconds int) {
	s.Fail(method, n, Fault{
		Status: http.StatusTooManyRequests, RetryAfter: seconds, Description: fmt.Sprintf("Too Many Requests: retry after %d", seconds),
	})
}

// LoseResponse carries out the next n calls of a method and cuts their connections.
func (s *Server) LoseResponse(method string, n int) {
	s.FailSome(of(method), n, faulty.Fault{Lose: true})
}

// Heal removes all faults.
func (s *Server) Heal() {
	s.Server.Heal()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floods = map[int64]*flood{}
}

// posting are the methods that post a message.
var posting = []string{"sendMessage", "sendDocument", "sendPhoto", "sendAudio", "sendVoice", "sendVideo"}

// of returns what a fault is for.
func of(method string) func(string) bool {
	return func(called string) bool {
		return called == method || method == Any || method == Sends && slices.Contains(posting, called)
	}
}

// flood is the flood control of a chat: a call too early is refused, and each refusal makes
// the wait longer.
type flood struct {
	every time.Duration
	burst int
	full  time.Time // when the chat has taken all, at its pace
}

// Flood has a chat refuse more than burst messages at once, and then more than one every so
// often. Edits count.
func (s *Server) Flood(chat int64, every time.Duration, burst int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floods[chat] = &flood{every: every, burst: burst}
}

// flooded returns the refusal of a message that comes too early. The lock is held.
func (s *Server) flooded(chat int64) *refusal {
	f := s.floods[chat]
	if f == nil {
		return nil
	}
	now := s.now()
	if f.full.Before(now) {
		f.full = now
	}
	if wait := f.full.Sub(now) - time.Duration(f.burst-1)*f.every; wait > 0 {
		seconds := int(wait/time.Second) + 1
		r := refused(http.StatusTooManyRequests, fmt.Sprintf("Too Many Requests: retry after %d", seconds))
		r.Parameters = map[string]any{"retry_after": seconds}
		return r
	}
	f.full = f.full.Add(f.every)
	return nil
}
