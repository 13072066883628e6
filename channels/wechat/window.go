package wechat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// staleAfter is when WeChat's refusal no longer means that we write too fast: the
	// person's message is then too old for WeChat, whatever its documented limits.
	staleAfter = time.Hour
	maxWindows = 100 // of a chat
	maxChats   = 50  // in the list that [Channel.Windows] reads
)

// window is what a person's message opens: a number of messages to them, for some time.
type window struct {
	Message string    `json:"message"` // its ID
	Token   string    `json:"token"`
	Since   time.Time `json:"since"`
}

// sent is what was sent in each window, by the message that opened it.
type sent map[string]*spent

// spent is what was sent in a window.
type spent struct {
	Keys  map[string]string `json:"keys"`  // the messages' IDs at WeChat; empty: it was not answered, and may be there
	Tries int               `json:"tries"` // the calls that may have sent something
	Full  bool              `json:"full"`  // WeChat takes no more
}

// in returns what was sent in a window.
func (s sent) in(message string) *spent {
	if s[message] == nil {
		s[message] = &spent{Keys: map[string]string{}}
	}
	return s[message]
}

// room returns how many more messages a window takes.
func (s *spent) room(of int) int {
	if s == nil {
		return of
	}
	if s.Full {
		return 0
	}
	return max(of-len(s.Keys), 0)
}

// open records a message of a chat. What its copies have in common stays as it is.
func (p *platform) open(ctx context.Context, chat string, opened []window) error {
	all, err := p.windows(ctx, chat)
	if err != nil {
		return err
	}
	for _, w := range opened {
		if !slices.ContainsFunc(all, func(known window) bool { return known.Message == w.Message }) {
			all = append(all, w)
		}
	}
	all = all[max(len(all)-maxWindows, 0):]
	if err := p.notes.write(ctx, noteWindows+chat, all); err != nil {
		return fmt.Errorf("record whom WeChat lets us write to: %w", err)
	}
	var chats []string
	if err := p.notes.read(ctx, noteChats, &chats); err != nil || len(chats) > 0 && chats[0] == chat {
		return err
	}
	chats = append([]string{chat}, slices.DeleteFunc(chats, func(c string) bool { return c == chat })...)
	return p.notes.write(ctx, noteChats, chats[:min(len(chats), maxChats)])
}

// windows returns the windows of a chat that are open, oldest first.
func (p *platform) windows(ctx context.Context, chat string) (all []window, err error) {
	err = p.notes.read(ctx, noteWindows+chat, &all)
	return slices.DeleteFunc(all, func(w window) bool { return time.Since(w.Since) >= p.o.Window }), err
}

// claim is a message that may be sent now.
type claim struct {
	window
	chat, key string
	posted    string // it was sent before: its ID at WeChat
	last      bool   // WeChat takes no other until the person writes
}

// claim counts a message of a chat before it is sent, in the window of the message that it
// answers if that is open. The error wraps [channels.ErrUndeliverableNow] if none is.
func (p *platform) claim(ctx context.Context, chat, answers, key string) (c claim, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	open, err := p.windows(ctx, chat)
	if err != nil {
		return c, err
	}
	s, err := p.sent(ctx, chat, open)
	if err != nil {
		return c, err
	}
	left := 0
	for _, w := range open {
		so := s.in(w.Message)
		posted, before := so.Keys[key]
		if before && (posted != "" || !so.Full) {
			so.Tries++
			return claim{window: w, chat: chat, key: key, posted: posted}, p.notes.write(ctx, noteSent+chat, s)
		}
		room := so.room(p.o.Replies)
		left += room
		if room > 0 && (answers == "" || c.Message != answers) { // the answered one, or else the last
			c = claim{window: w, chat: chat, key: key}
		}
	}
	switch {
	case len(open) == 0:
		return c, closed(fmt.Sprintf("the person has not written to the bot for %s", p.o.Window))
	case left == 0:
		return c, closed(fmt.Sprintf("all %d messages since the person last wrote are used up", p.o.Replies))
	}
	c.last = left == 1
	so := s.in(c.Message)
	so.Keys[key] = ""
	so.Tries++
	return c, p.notes.write(ctx, noteSent+chat, s)
}

// settle records the outcome of a message that was claimed: its ID at WeChat or, if it was
// certainly not sent, that it does not count.
func (p *platform) settle(ctx context.Context, c claim, posted string, err error) error {
	failed := remote.As(err)
	if err != nil && (failed == nil || failed.Status == 0 || failed.Status >= http.StatusInternalServerError) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	s, readErr := p.sent(ctx, c.chat, []window{c.window})
	if readErr != nil {
		return readErr
	}
	so := s.in(c.Message)
	if err == nil {
		so.Keys[c.key] = posted
	} else {
		delete(so.Keys, c.key)
		so.Tries--
		so.Full = so.Full || errors.Is(err, errRefused) && so.Tries >= p.o.Replies
	}
	return p.notes.write(ctx, noteSent+c.chat, s)
}

// sent returns what was sent in a chat, in these windows and those that were opened since.
func (p *platform) sent(ctx context.Context, chat string, open []window) (sent, error) {
	s := sent{}
	if err := p.notes.read(ctx, noteSent+chat, &s); err != nil {
		return nil, err
	}
	if len(s) > maxWindows {
		for message := range s {
			if !slices.ContainsFunc(open, func(w window) bool { return w.Message == message }) {
				delete(s, message)
			}
		}
	}
	return s, nil
}

// closed is the error of a chat without an open window.
func closed(why string) error {
	return &remote.Error{Service: Name, Status: http.StatusConflict, Err: fmt.Errorf("%w: %s", channels.ErrUndeliverableNow, why)}
}

// stale returns whether WeChat refused a message since its window is old.
func (c claim) stale(err error) bool {
	return errors.Is(err, errRefused) && time.Since(c.Since) > staleAfter
}

// Window is how far a chat is open.
type Window struct {
	Chat  string
	Until time.Time // zero: it is not
	Left  int       // messages
}

// Windows returns how far the chats are open that were written in lately.
func (p *platform) Windows(ctx context.Context) ([]Window, error) {
	var chats []string
	if err := p.notes.read(ctx, noteChats, &chats); err != nil {
		return nil, err
	}
	var all []Window
	for _, chat := range chats {
		open, err := p.windows(ctx, chat)
		if err != nil {
			return nil, err
		}
		s, err := p.sent(ctx, chat, open)
		if err != nil {
			return nil, err
		}
		shown := Window{Chat: chat}
		for _, w := range open {
			shown.Until = w.Since.Add(p.o.Window)
			shown.Left += s[w.Message].room(p.o.Replies)
		}
		all = append(all, shown)
	}
	return all, nil
}
