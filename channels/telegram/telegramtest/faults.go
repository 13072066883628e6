package telegramtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Always is an unlimited number of calls.
const Always = -1

// Any matches every method; Sends all that post a message.
const (
	Any   = "*"
	Sends = "send*"
)

// Fault is how a call fails.
type Fault struct {
	Status      int    // Telegram's error_code, and the status
	Description string // empty: that of the status
	RetryAfter  int    // seconds
	Body        string // not empty: somebody else answers with it
	Cut         bool   // cut the connection; Telegram does nothing
	Chat        int64  // only calls for this chat; 0: all

	lose bool
	hook func(Call)
}

func (f Fault) refusal() *refusal {
	text := f.Description
	if text == "" {
		text = http.StatusText(f.Status)
	}
	r := refused(f.Status, text)
	if f.RetryAfter > 0 {
		r.Parameters = map[string]any{"retry_after": f.RetryAfter}
	}
	return r
}

type plan struct {
	method string
	left   int
	fault  Fault
}

// Fail makes the next n calls of a method, or Always, fail.
func (s *Server) Fail(method string, n int, f Fault) { s.plan(method, n, f) }

// TooMany makes the next n calls of a method fail with 429.
func (s *Server) TooMany(method string, n, seconds int) {
	s.plan(method, n, Fault{
		Status: http.StatusTooManyRequests, RetryAfter: seconds, Description: fmt.Sprintf("Too Many Requests: retry after %d", seconds),
	})
}

// LoseResponse carries out the next n calls of a method and cuts their connections.
func (s *Server) LoseResponse(method string, n int) { s.plan(method, n, Fault{lose: true, Cut: true}) }

// Before calls f before each of the next n calls of a method is carried out.
func (s *Server) Before(method string, n int, f func(Call)) { s.plan(method, n, Fault{hook: f}) }

// Heal removes all faults.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
	s.floods = map[int64]*flood{}
}

func (s *Server) plan(method string, n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &plan{method, n, f})
}

// posting are the methods that post a message.
var posting = []string{"sendMessage", "sendDocument", "sendPhoto", "sendAudio", "sendVoice", "sendVideo"}

// fate returns the fault that a call meets.
func (s *Server) fate(c *Call) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.faults {
		matches := p.method == c.Method || p.method == Any || p.method == Sends && slices.Contains(posting, c.Method)
		if !matches || p.left == 0 || p.fault.Chat != 0 && strconv.FormatInt(p.fault.Chat, 10) != c.Arguments["chat_id"] {
			continue
		}
		if p.left > 0 {
			p.left--
		}
		return p.fault
	}
	return Fault{}
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
