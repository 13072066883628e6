package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// polling has the times of long polling.
type polling struct {
	wait   time.Duration // how long Telegram waits for an update
	settle time.Duration // for the rest of an album
	// forget is after how long without updates the offset is dropped: after a week Telegram
	// numbers updates anew, from anywhere.
	forget time.Duration
}

var defaultPolling = polling{wait: 50 * time.Second, settle: 700 * time.Millisecond, forget: 6 * 24 * time.Hour}

const (
	batch = 100 // updates of an answer, at most
	// shortest is how long a poll that brings nothing lasts: what is between may not wait.
	shortest = 300 * time.Millisecond
	// settleTries bounds how often the rest of an album is waited for.
	settleTries = 5
	// answerTimeout bounds answering clicks.
	answerTimeout = 10 * time.Second
)

// Receive implements [chat.Platform].
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error {
	if err := in.Ready(ctx); err != nil {
		return err
	}
	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() { p.setCommands(ctx) })
	if p.o.Mode == ModeWebhook {
		return p.receiveWebhook(ctx, in)
	}
	r := &poller{platform: p, in: in, background: &background}
	for {
		if err := chat.Retry(ctx, p.o.Logger, "receiving", r.round); err != nil {
			return err
		}
	}
}

// setCommands fills the menu of commands that people see. It makes one attempt: the menu
// is a convenience, and stays as it was.
func (p *platform) setCommands(ctx context.Context) {
	type item struct {
		Command     string `json:"command"`
		Description string `json:"description"`
	}
	var menu []item
	for _, c := range domain.Commands() {
		menu = append(menu, item{string(c.Name), c.Description})
	}
	if err := p.call(ctx, "setMyCommands", args{"commands": menu}, nil); err != nil && ctx.Err() == nil {
		p.o.Logger.Warn("the menu of commands was not set", "err", err)
	}
}

// poller receives by long polling. Telegram keeps what is not confirmed: a message is
// confirmed by the next call, once it was accepted.
type poller struct {
	*platform
	in         chat.Inbox
	background *sync.WaitGroup // of answers to clicks
	offset     int64           // of the first update that was not accepted; 0: Telegram knows
	last       time.Time       // when the last update came
}

// round makes one call and handles what it returns.
func (r *poller) round(ctx context.Context) error {
	if time.Since(r.last) > r.polling.forget {
		r.offset = 0
	}
	began := time.Now()
	payloads, err := r.fetch(ctx)
	if err != nil {
		return r.explained(ctx, err)
	}
	if len(payloads) == 0 {
		chat.Sleep(ctx, shortest-time.Since(began))
		return nil
	}
	news, next, err := r.read(payloads)
	if err != nil {
		return err
	}
	if err := r.in.DeliverAll(ctx, news); err != nil {
		return err
	}
	r.offset, r.last = next, time.Now()
	r.background.Go(func() { r.answerClicks(context.WithoutCancel(ctx), news) })
	return nil
}

// answerClicks answers clicks, as long as Telegram waits for that.
func (r *poller) answerClicks(ctx context.Context, news []chat.Delivery) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	for _, d := range news {
		method, a := answerClick(d)
		if method == "" {
			continue
		}
		if err := r.call(ctx, method, a, nil); err != nil {
			r.o.Logger.Debug("click not answered", "err", err)
		}
	}
}

// fetch returns the next updates. Those of an album come one after the other: it waits
// until they are all there, as long as none of them is confirmed.
func (r *poller) fetch(ctx context.Context) (payloads []json.RawMessage, err error) {
	payloads, err = r.getUpdates(ctx, r.offset, r.polling.wait)
	for range settleTries {
		if err != nil || len(payloads) == 0 || len(payloads) == batch || !endsInAlbum(payloads) {
			return payloads, err
		}
		if !chat.Sleep(ctx, r.polling.settle) {
			return nil, ctx.Err()
		}
		known := len(payloads)
		if payloads, err = r.getUpdates(ctx, r.offset, 0); len(payloads) == known {
			return payloads, err
		}
	}
	return payloads, err
}

func endsInAlbum(payloads []json.RawMessage) bool {
	var u update
	_ = json.Unmarshal(payloads[len(payloads)-1], &u) // what is malformed is in no album
	return u.Message != nil && u.Message.Album != ""
}

// getUpdates returns the updates from offset on, 0 being the first that is not confirmed.
func (p *platform) getUpdates(ctx context.Context, offset int64, wait time.Duration) (payloads []json.RawMessage, err error) {
	a := args{"timeout": int(wait.Seconds()), "limit": batch, "allowed_updates": updateKinds}
	if offset != 0 {
		a["offset"] = offset
	}
	err = p.callFor(ctx, wait+callTimeout, "getUpdates", a, &payloads)
	return payloads, err
}

// read parses updates and returns the offset that confirms them. One that cannot be read is
// left out: it would come again and again.
func (r *poller) read(payloads []json.RawMessage) (news []chat.Delivery, next int64, err error) {
	var album string
	for _, payload := range payloads {
		u, d, err := r.parse(payload)
		if err != nil {
			r.o.Logger.Error("invalid update", "id", u.ID, "err", err)
		}
		next = max(next, u.ID+1)
		if d == nil || err != nil {
			continue
		}
		if u.Message != nil && u.Message.Album != "" && u.Message.Album == album && joins(news, d) {
			continue
		}
		album = ""
		if u.Message != nil {
			album = u.Message.Album
		}
		news = append(news, d)
	}
	if next <= 1 {
		return nil, 0, &remote.Error{Service: Name, Err: errors.New("updates without IDs")}
	}
	return news, next, nil
}

// joins adds a picture to the album that the last message is a part of, and reports whether
// it did. The IDs of the first and the last picture name the album: should more of it turn
// up in a later delivery, it is another message, and nothing is lost.
func joins(news []chat.Delivery, d chat.Delivery) bool {
	if len(news) == 0 {
		return false
	}
	first, is := news[len(news)-1].(*chat.Post)
	more, also := d.(*chat.Post)
	if !is || !also || first.Chat != more.Chat || first.Sender != more.Sender {
		return false
	}
	first.PlatformID = fmt.Sprintf("%d-%s", messageID(first.PlatformID), more.PlatformID)
	first.Text = joined(first.Text, more.Text)
	first.Files = append(first.Files, more.Files...)
	first.Mentioned = first.Mentioned || more.Mentioned
	return true
}

// explained deals with a failed call. Polling does not work while a webhook is set: it is
// removed, and Telegram keeps what it has not delivered. No refusal is final: the token or
// whatever is between can be mended.
func (r *poller) explained(ctx context.Context, err error) error {
	if errors.Is(err, errWebhookSet) {
		info, _ := r.webhookInfo(ctx) // its address is only for the log
		r.o.Logger.Warn("the bot has a webhook, which is removed: channels.telegram.mode is polling", "url", info.shown())
		return errors.Join(err, r.call(ctx, "deleteWebhook", args{"drop_pending_updates": false}, nil))
	}
	return lasting(err)
}

// lasting makes an error one that is worth another attempt.
func lasting(err error) error {
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		failed.Status, failed.RetryAfter = 0, web.OperatorDelay
	}
	return err
}
