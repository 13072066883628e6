package wechat

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// SetPace sets how often a channel under test looks for logins and shows turns.
func SetPace(c *Channel, look, throttled time.Duration, pace chat.Pace) {
	c.look, c.throttled = look, throttled
	p := c.platform
	p.pace = pace
	c.Outbound = chat.NewOutbound(p, chat.OutboundOptions{Logger: p.o.Logger})
}

// LogIn stores a login.
func LogIn(ctx context.Context, c *Channel, account Account) error {
	return c.notes.write(ctx, noteAccount, account)
}

// Spend counts all messages of a chat's windows as sent but n.
func Spend(ctx context.Context, c *Channel, chat string, n int) error {
	open, err := c.windows(ctx, chat)
	if err != nil {
		return err
	}
	s := sent{}
	for i, w := range open {
		spent := c.o.Replies
		if i == len(open)-1 {
			spent -= n
		}
		for k := range spent {
			s.in(w.Message).Keys["spent-"+strconv.Itoa(k)] = "spent"
		}
	}
	return c.notes.write(ctx, noteSent+chat, s)
}

// Open opens a chat's window as a message would that was written then. All others are closed.
func Open(ctx context.Context, c *Channel, chat, token string, since time.Time) error {
	if err := c.notes.write(ctx, noteWindows+chat, []window{}); err != nil {
		return err
	}
	return c.open(ctx, chat, []window{{Message: "m-" + token, Token: token, Since: since}})
}

// Read parses a message.
func Read(c *Channel, raw []byte) (*chat.Post, error) {
	_, post, err := c.readMessage(raw)
	return post, err
}

// Encrypt and Decrypt are those of files.
var (
	Encrypt = encrypt
	Decrypt = decrypt
)
