package email_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/email"
	"github.com/holdfast-ai/holdfast/channels/email/emailtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.RunReceiver(t, func(t *testing.T) channeltest.Platform {
		s := &suite{office: open(t, func(o *email.Options) { o.HourlyLimit = 1000 }), refused: map[string]chan error{}, first: make(chan struct{})}
		return channeltest.Platform{Name: email.Name, Push: true, Threads: true, Receiver: s, Deliver: s.deliver}
	})
	channeltest.RunSender(t, func(t *testing.T) channeltest.Platform {
		o := open(t, nil)
		return channeltest.Platform{
			Name: email.Name, Push: true, Sender: renamingSender{o.channel}, Posted: func() (all []domain.Outbound) {
				for _, m := range o.mails() {
					all = append(all, domain.Outbound{Chat: "c1", Text: m.text})
				}
				return all
			},
			Fail: func(n int) { o.Refuse(n, 451) }, LoseResponse: o.LoseAnswers, Close: func(string) { o.Gone(emailtest.Ana) },
		}
	})
}

// suite lets the conformance suite use names of its own for addresses and Message-IDs.
type suite struct {
	*office
	once  sync.Once
	first chan struct{} // closed once there is a cursor

	mu      sync.Mutex
	last    uint32 // up to here the mailbox was read
	refused map[string]chan error
}

// Run implements channels.Receiver.
func (s *suite) Run(ctx context.Context, b channels.Backend) error {
	return s.channel.Run(ctx, renaming{b.(*channeltest.Backend), s})
}

func (s *suite) deliver(ctx context.Context, msg domain.Inbound) error {
	select {
	case <-s.first:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	refused := s.refused[msg.PlatformID]
	if refused == nil {
		refused = make(chan error, 10)
		s.refused[msg.PlatformID] = refused
	}
	s.mu.Unlock()
	letter := emailtest.Letter{From: emailtest.Ana, ID: msg.PlatformID, Text: msg.Text}
	if msg.Thread != "" {
		letter.Refers = []string{msg.Thread}
	}
	uid := s.Say(letter)
	for {
		s.mu.Lock()
		read := s.last >= uid
		s.mu.Unlock()
		if read {
			return nil
		}
		select {
		case err := <-refused:
			return err
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// renaming gives the suite's names to what arrives.
type renaming struct {
	*channeltest.Backend
	s *suite
}

// Accept implements channels.Backend.
func (r renaming) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	require.Equal(r.s.t, emailtest.Ana, msg.Chat)
	msg.Chat, msg.Scope, msg.Sender = "c1", "c1", "u1"
	if msg.Thread == msg.PlatformID {
		msg.Thread = ""
	}
	accepted, err := r.Backend.Accept(ctx, msg)
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if err != nil {
		r.s.refused[msg.PlatformID] <- err
	}
	return accepted, err
}

// SetCursor implements channels.Cursors.
func (r renaming) SetCursor(ctx context.Context, channel, name, cursor string) error {
	err := r.Backend.SetCursor(ctx, channel, name, cursor)
	r.s.mu.Lock()
	r.s.last = lastOf(cursor)
	r.s.mu.Unlock()
	r.s.once.Do(func() { close(r.s.first) })
	return err
}

// renamingSender sends to Ana what the suite sends to its chat.
type renamingSender struct{ *email.Channel }

// Send implements channels.Sender.
func (r renamingSender) Send(ctx context.Context, msg domain.Outbound) (channels.Sent, error) {
	msg.Chat = strings.Replace(msg.Chat, "c1", emailtest.Ana, 1)
	return r.Channel.Send(ctx, msg)
}

// Find implements channels.Finder.
func (r renamingSender) Find(ctx context.Context, msg domain.Outbound) (channels.Found, error) {
	if msg.Chat != "c1" {
		return channels.Found{}, errors.New("another chat")
	}
	msg.Chat = emailtest.Ana
	return r.Channel.Find(ctx, msg)
}
