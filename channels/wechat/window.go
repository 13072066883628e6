package wechat

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// staleAfter is when WeChat's refusal no longer means that we write too fast: the
	// person's last message is then too old for WeChat, whatever its documented limits.
	staleAfter = time.Hour
	// maxChats bounds the list of chats that [Channel.Windows] reads.
	maxChats = 50
)

// window is what a person's message opens: a number of messages to them, for some time.
type window struct {
	Message string    `json:"message"` // its ID
	Token   string    `json:"token"`
	Since   time.Time `json:"since"`
}

// sent are the messages that were sent in a window, by key: their IDs at WeChat. An empty
// one was not answered, so the message may be there.
type sent struct {
	Message string            `json:"message"` // that opened the window
	Keys    map[string]string `json:"keys"`
}

// open records a chat's window.
func (p *platform) open(ctx context.Context, chat string, w window) error {
	if err := p.notes.write(ctx, noteContext+chat, w); err != nil {
		return fmt.Errorf("record whom WeChat lets us write to: %w", err)
	}
	var chats []string
	if _, err := p.notes.read(ctx, noteChats, &chats); err != nil {
		return err
	}
	if len(chats) > 0 && chats[0] == chat {
		return nil
	}
	chats = append([]string{chat}, slices.DeleteFunc(chats, func(c string) bool { return c == chat })...)
	return p.notes.write(ctx, noteChats, chats[:min(len(chats), maxChats)])
}

// claim is a message that may be sent now.
type claim struct {
	window
	chat, key string
	posted    string // it was sent before: its ID at WeChat
	last      bool   // WeChat takes no other until the person writes
}

// claim counts a message of a chat before it is sent. The error wraps
// [channels.ErrUndeliverableNow] if the window is closed.
func (p *platform) claim(ctx context.Context, chat, key string) (c claim, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c = claim{chat: chat, key: key}
	found, err := p.notes.read(ctx, noteContext+chat, &c.window)
	if err != nil {
		return c, err
	}
	s, err := p.sentIn(ctx, chat, c.window)
	if err != nil {
		return c, err
	}
	posted, before := s.Keys[key]
	switch {
	case !found:
		return c, closed("the person has not written to the bot yet")
	case before && posted != "":
		c.posted = posted
		return c, nil
	case time.Since(c.Since) >= p.o.Window:
		return c, closed(fmt.Sprintf("the person last wrote at %s, more than %s ago", c.Since.Format(time.RFC3339), p.o.Window))
	case !before && len(s.Keys) >= p.o.Replies:
		return c, closed(fmt.Sprintf("%d of %d messages since the person last wrote are used up", len(s.Keys), p.o.Replies))
	}
	s.Keys[key] = ""
	c.last = len(s.Keys) == p.o.Replies
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
	s, readErr := p.sentIn(ctx, c.chat, c.window)
	if readErr != nil {
		return readErr
	}
	if err == nil {
		s.Keys[c.key] = posted
	} else {
		delete(s.Keys, c.key)
	}
	return p.notes.write(ctx, noteSent+c.chat, s)
}

// sentIn returns what was sent in a window.
func (p *platform) sentIn(ctx context.Context, chat string, w window) (s sent, err error) {
	if _, err := p.notes.read(ctx, noteSent+chat, &s); err != nil {
		return s, err
	}
	if s.Message != w.Message || s.Keys == nil {
		s = sent{Message: w.Message, Keys: map[string]string{}}
	}
	return s, nil
}

// closed is the error of a chat whose window is closed.
func closed(why string) error {
	return &remote.Error{Service: Name, Status: http.StatusConflict, Err: fmt.Errorf("%w: %s", channels.ErrUndeliverableNow, why)}
}

// Window is how far a chat's window is open.
type Window struct {
	Chat  string
	Until time.Time
	Left  int // messages
}

// Windows returns the windows of the chats that were written in lately.
func (p *platform) Windows(ctx context.Context) ([]Window, error) {
	var chats []string
	if _, err := p.notes.read(ctx, noteChats, &chats); err != nil {
		return nil, err
	}
	var all []Window
	for _, chat := range chats {
		var w window
		if _, err := p.notes.read(ctx, noteContext+chat, &w); err != nil {
			return nil, err
		}
		s, err := p.sentIn(ctx, chat, w)
		if err != nil {
			return nil, err
		}
		all = append(all, Window{Chat: chat, Until: w.Since.Add(p.o.Window), Left: max(p.o.Replies-len(s.Keys), 0)})
	}
	return all, nil
}
