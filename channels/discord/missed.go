package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	pageSize = 100 // messages or threads in a call, the most that Discord returns
	// soonestArchived is after how long without a message Discord archives a thread at the
	// earliest. Archived ones are not listed with their server.
	soonestArchived = time.Hour
)

// missed returns what was written in a lane's channel, oldest first and at most a page. If that
// is not all, the lane stays behind.
func (f *feed) missed(ctx context.Context, l *lane, archive bool) (news []*message, err error) {
	select {
	case f.fetching <- struct{}{}:
		defer func() { <-f.fetching }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	full := false
	err = chat.Retry(ctx, f.log, "reading what was missed", func(ctx context.Context) (err error) {
		if archive {
			if err := f.reopened(ctx, l); err != nil {
				return err
			}
		}
		news, full, err = f.page(ctx, l.channel, l.after)
		if failed := remote.As(err); failed != nil && failed.Permanent() {
			f.log.Warn("messages may have been missed: the bot may not read the history", "channel", l.channel, "err", err)
			return nil
		}
		return err
	})
	if full && len(news) > 0 {
		f.mu.Lock()
		l.behind = true
		f.mu.Unlock()
	}
	return news, err
}

// page returns the messages of a channel that follow one, oldest first, and whether there
// may be more.
func (p *platform) page(ctx context.Context, channel string, after snowflake) (all []*message, full bool, err error) {
	var raw []json.RawMessage
	err = p.call(ctx, request{
		method: http.MethodGet, route: "/channels/%s/messages", ids: []string{channel},
		query: url.Values{"after": {after.String()}, "limit": {strconv.Itoa(pageSize)}},
	}, &raw)
	if err != nil {
		return nil, false, err
	}
	for _, data := range raw {
		m, err := readMessage(data)
		if err != nil {
			p.log.Error("message not understood", "channel", channel, "err", err)
			continue
		}
		m.ChannelID = channel
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *message) int { return cmp.Compare(a.id, b.id) })
	return all, len(raw) == pageSize, nil
}

// mayHaveArchived reports whether threads may have been archived since the last session.
func (f *feed) mayHaveArchived() bool { return time.Since(f.from.time()) > soonestArchived }

// reopened catches up with the threads of a lane's channel that were archived since the last
// session.
func (f *feed) reopened(ctx context.Context, l *lane) error {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for more := true; more; {
		var answer struct {
			Threads []channel `json:"threads"`
			HasMore bool      `json:"has_more"`
		}
		err := f.call(ctx, request{
			method: http.MethodGet, route: "/channels/%s/threads/archived/public", ids: []string{l.channel}, query: query,
		}, &answer)
		if failed := remote.As(err); failed != nil && failed.Permanent() {
			return nil // we may not read them
		}
		if err != nil {
			return err
		}
		f.announced.put(l.guild, answer.Threads...)
		more = answer.HasMore && len(answer.Threads) > 0
		f.mu.Lock()
		for _, c := range answer.Threads {
			c.GuildID = l.guild
			if last, _ := parseID(c.LastMessageID); last > f.since() {
				f.catchUp(ctx, c)
			}
			more = more && c.Metadata.ArchivedAt.After(f.from.time())
			query.Set("before", c.Metadata.ArchivedAt.UTC().Format(time.RFC3339Nano))
		}
		f.mu.Unlock()
	}
	return nil
}
