package mattermost

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// cursorPosition is the cursor's name: up to this time, in the server's milliseconds,
	// everything was accepted.
	cursorPosition = "position"
	// overlap is by how much more is read again: channels may be ahead of each other.
	overlap = time.Minute
	// maxSkew bounds how far the server's clock is believed to be ahead of ours.
	maxSkew = time.Minute
)

var errGap = errors.New("events were left out")

// feed hands what is written to the core, each piece until it is accepted, and stores up to
// when everything was. A new session begins with reading what was written since then.
type feed struct {
	*platform
	in       chat.Inbox
	cursors  chat.Cursors
	position int64 // 0: none was stored
	session  session
}

// Receive implements [chat.Platform].
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error {
	if p.hook == nil {
		return p.receive(ctx, in)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.hook.Serve(ctx, in) })
	group.Go(func() error { return p.receive(ctx, in) })
	return group.Wait()
}

func (p *platform) receive(ctx context.Context, in chat.Inbox) error {
	if err := in.Ready(ctx); err != nil {
		return err
	}
	f := &feed{platform: p, in: in, cursors: in.Cursors()}
	if f.cursors == nil {
		return errors.New("the backend stores no cursors")
	}
	if err := chat.Retry(ctx, p.o.Logger, "reading the position", f.open); err != nil {
		return err
	}
	return chat.Retry(ctx, p.o.Logger, "receiving from mattermost", func(ctx context.Context) error { return lasting(f.follow(ctx)) })
}

func (f *feed) open(ctx context.Context) error {
	stored, err := f.cursors.Read(ctx, cursorPosition)
	if err != nil {
		return err
	}
	f.position, _ = strconv.ParseInt(stored, 10, 64) // what is no number is none
	return nil
}

// follow keeps a connection until it fails.
func (f *feed) follow(ctx context.Context) error {
	conn, err := f.dial(ctx, f.session)
	if err != nil {
		return err
	}
	defer conn.close()
	for {
		events, err := conn.next(ctx)
		if err != nil {
			if errors.Is(err, chat.ErrMalformed) || errors.Is(err, websocket.ErrReadLimit) {
				f.session = session{} // a resumed one would bring the same again
			}
			if f.session.id == "" && ctx.Err() == nil { // it may be the token
				err = errors.Join(f.call(ctx, http.MethodGet, "/users/me", nil, nil), err)
			}
			return err
		}
		if err := f.take(ctx, events); err != nil {
			f.session = session{} // the next one reads everything that may be missing
			return err
		}
	}
}

// take handles events in their order.
func (f *feed) take(ctx context.Context, events []event) error {
	var news []chat.Delivery
	var newest int64
	for _, e := range events {
		switch {
		case e.SeqReply != 0:
			continue
		case e.Event == "hello" && e.Data.ConnectionID != f.session.id:
			f.session = session{id: e.Data.ConnectionID, seq: e.Seq}
			if err := f.catchUp(ctx); err != nil {
				return err
			}
		case e.Seq != f.session.seq:
			return &remote.Error{Service: Name, Err: fmt.Errorf("%w: number %d came instead of %d", errGap, e.Seq, f.session.seq)}
		}
		f.session.seq++
		d, err := f.read(ctx, e)
		switch {
		case errors.Is(err, chat.ErrMalformed), errors.Is(err, chat.ErrPanic):
			f.o.Logger.Error("event not understood", "event", e.Event, "err", err)
		case err != nil:
			return err
		case d != nil:
			news = append(news, d)
		}
		if message, is := d.(*chat.Post); is {
			newest = max(newest, message.SentAt.UnixMilli())
		}
	}
	if err := f.accept(ctx, news); err != nil {
		return err
	}
	return f.move(ctx, newest)
}

// read returns what an event delivers; nil if nothing.
func (f *feed) read(ctx context.Context, e event) (d chat.Delivery, err error) {
	defer chat.RecoverPanic(&err)
	if e.Event != "posted" && e.Event != "post_edited" && e.Event != "post_deleted" {
		return nil, nil
	}
	p, err := readPost([]byte(e.Data.Post))
	if err != nil {
		return nil, err
	}
	in := channel{ID: p.ChannelID, Type: e.Data.ChannelType}
	if in.Type == "" {
		if in, err = f.channels.Get(ctx, p.ChannelID); isMissing(err) {
			return nil, nil // we were removed from it
		} else if err != nil {
			return nil, err
		}
	}
	message, err := f.message(ctx, p, in)
	switch {
	case err != nil:
		return nil, err
	case e.Event == "posted":
		message.SenderName = senderName(e.Data.SenderName)
		return message, nil
	case e.Event == "post_edited" && p.EditAt == 0: // it was pinned, say
		return nil, nil
	}
	return changeOf(p, message, e.Event == "post_deleted"), nil
}

// accept hands deliveries to the core until all are accepted. The error is that ctx ended.
func (f *feed) accept(ctx context.Context, news []chat.Delivery) error {
	return chat.Retry(ctx, f.o.Logger, "accepting messages", func(ctx context.Context) error { return f.in.DeliverAll(ctx, news) })
}

// move stores how far everything was accepted. The error is that ctx ended.
func (f *feed) move(ctx context.Context, newest int64) error {
	newest = max(f.position, min(newest, time.Now().Add(maxSkew).UnixMilli()))
	return chat.Retry(ctx, f.o.Logger, "storing the position", func(ctx context.Context) error {
		if newest == f.position {
			return nil
		}
		if err := f.cursors.Store(ctx, cursorPosition, strconv.FormatInt(newest, 10)); err != nil {
			return err
		}
		f.position = newest
		return nil
	})
}

// catchUp accepts what was written since the position, in all channels. Without one, it
// begins at the present.
func (f *feed) catchUp(ctx context.Context) error {
	var ours []channel
	if err := f.call(ctx, http.MethodGet, "/users/me/channels", nil, &ours); err != nil {
		return err
	}
	f.o.Logger.Info("receiving", "channels", len(ours))
	newest, since := int64(1), f.position-overlap.Milliseconds()
	for _, c := range ours {
		f.channels.Put(c.ID, c)
		newest = max(newest, c.LastPostAt)
		if f.position == 0 || c.LastPostAt <= since {
			continue
		}
		if err := f.missed(ctx, c, since); err != nil {
			return err
		}
	}
	return f.move(ctx, newest)
}

// missed accepts what was written or changed in a channel since a time.
func (f *feed) missed(ctx context.Context, c channel, since int64) error {
	posts, err := f.written(ctx, c.ID, since)
	if isMissing(err) {
		f.o.Logger.Warn("messages may have been missed: the bot may not read the channel", "channel", c.ID, "err", err)
		return nil
	}
	if err != nil {
		return err
	}
	var news []chat.Delivery
	for _, p := range posts {
		message, err := f.message(ctx, p, c)
		if err != nil {
			return err
		}
		if p.CreateAt > since && p.DeleteAt == 0 {
			news = append(news, message)
		}
		if p.CreateAt <= f.position && (p.EditAt > since || p.DeleteAt > since) {
			news = append(news, changeOf(p, message, p.DeleteAt > 0))
		}
	}
	return f.accept(ctx, news)
}
