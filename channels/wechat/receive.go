package wechat

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// pollTimeout is how long WeChat may hold a poll, unless it says for how long.
	pollTimeout = 35 * time.Second
	pollMargin  = 10 * time.Second
	maxPoll     = 2 * time.Minute
	// emptyPause is the least time that an empty poll takes: WeChat is to hold it.
	emptyPause = time.Second
)

// Receive implements [chat.Platform]. It outlives logins: when one has expired it waits
// for the next.
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error {
	var account Account
	for {
		var err error
		if err = in.Ready(ctx); err == nil {
			account, err = p.await(ctx, account)
		}
		if err == nil {
			err = p.receive(ctx, in, account)
		}
		switch {
		case ctx.Err() != nil:
			return in.Drain()
		case errors.Is(err, errLoginExpired):
			err = p.expire(ctx, account)
		case errors.Is(err, errOtherLogin):
			err = nil
		}
		if err != nil {
			p.o.Logger.Error("receiving from WeChat failed, will try again", "err", err)
			chat.Sleep(ctx, p.look)
		}
	}
}

// receive polls with one login. Its cursor is the bot's.
func (p *platform) receive(ctx context.Context, in chat.Inbox, account Account) error {
	tell := func(method string) {
		if err := p.client.call(context.WithoutCancel(ctx), account, method, map[string]any{}, nil); err != nil {
			p.o.Logger.Debug("connection not announced to WeChat", "method", method, "err", err)
		}
	}
	tell("msg/notifystart")
	defer tell("msg/notifystop")
	p.o.Logger.Info("receiving", "bot", account.BotID)
	timeout := pollTimeout
	return in.Poll(ctx, noteUpdates+account.BotID, func(ctx context.Context, cursor string) ([]chat.Delivery, string, error) {
		began := time.Now()
		news, err := p.poll(ctx, account, cursor, timeout)
		if err != nil {
			return nil, "", err
		}
		if news.TimeoutMS > 0 {
			timeout = min(time.Duration(news.TimeoutMS)*time.Millisecond, maxPoll)
		}
		if len(news.Messages) == 0 && time.Since(began) < emptyPause {
			chat.Sleep(ctx, emptyPause)
		}
		all, err := p.read(ctx, account, news.Messages)
		if news.Cursor == "" {
			news.Cursor = cursor
		}
		return all, news.Cursor, err
	})
}

// updates are the answer to a poll.
type updates struct {
	Messages  []json.RawMessage `json:"msgs"`
	Cursor    string            `json:"get_updates_buf"`
	TimeoutMS int64             `json:"longpolling_timeout_ms"`
}

// poll makes one poll. One that WeChat does not answer in time has no news. An error that
// only another login cures is permanent.
func (p *platform) poll(ctx context.Context, account Account, cursor string, timeout time.Duration) (news updates, err error) {
	current, err := p.Account(ctx)
	if err != nil {
		return news, err
	}
	if current.Token != account.Token {
		return news, &remote.Error{Service: Name, Status: http.StatusUnauthorized, Err: errOtherLogin}
	}
	began := time.Now()
	err = p.client.callFor(ctx, timeout+pollMargin, account, "getupdates", map[string]any{"get_updates_buf": cursor}, &news)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && time.Since(began) >= timeout+pollMargin {
		return updates{}, nil
	}
	return news, err
}

// read returns what was received as deliveries, once the chats that it opens are recorded.
// What cannot be read is logged and skipped: no other poll would bring it in another form.
func (p *platform) read(ctx context.Context, account Account, messages []json.RawMessage) ([]chat.Delivery, error) {
	var all []chat.Delivery
	opened := map[string][]window{}
	for _, raw := range messages {
		m, post, err := p.readMessage(raw)
		if err != nil {
			p.o.Logger.Error("a message from WeChat cannot be read", "bytes", len(raw), "err", err)
			continue
		}
		if post == nil {
			continue
		}
		if m.ContextToken != "" {
			opened[m.From] = append(opened[m.From], window{Message: post.PlatformID, Token: m.ContextToken, Since: m.sentAt()})
		}
		if account.BotID != "" && m.From == account.BotID {
			post.Own = true
		}
		all = append(all, post)
	}
	for chat, windows := range opened {
		if err := p.open(ctx, chat, windows); err != nil {
			return nil, err
		}
	}
	return all, nil
}
