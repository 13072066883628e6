package discord

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	// maxWaiting bounds the messages of a channel that wait to be accepted. Further ones are
	// read from its history.
	maxWaiting = 500
	// maxFetching bounds the histories that are read at once.
	maxFetching = 4
	// maxSkew bounds how far Discord's clock is believed to be ahead of ours.
	maxSkew = time.Minute
	// maxDirects bounds the direct chats that are remembered, those written in last.
	maxDirects = 500
)

// The cursors of a feed.
const (
	cursorPosition = "position" // everything up to this ID was accepted
	cursorDirects  = "directs"  // the direct chats, which Discord does not list
)

// feed hands the messages of each channel to the core in order, each until it is accepted, and
// stores up to which message all were. When a session begins, it reads what was written since
// then from the history of each channel.
type feed struct {
	*platform
	in       chat.Inbox
	cursors  chat.Cursors
	running  sync.WaitGroup
	fetching chan struct{}

	mu      sync.Mutex
	lanes   map[string]*lane // by channel
	pending map[string]bool  // servers that were not listed yet in this session
	current map[string]bool  // channels of which nothing is missing but what their lanes have
	from    snowflake        // the position when the session began
	newest  snowflake        // the highest ID that was accepted
	directs []string         // the one written in last first

	saving sync.Mutex
	stored [2]string // what the cursors are
}

// lane has the messages of a channel that are to be accepted.
type lane struct {
	guild, channel string
	after          snowflake // everything up to it was accepted
	queue          []*message
	behind         bool // messages after it are to be read from the history
	archive        bool // threads may have been archived since
	unknown        bool // it is a direct chat that is not stored yet
}

// openFeed returns a feed at the stored position; at the present if there is none.
func openFeed(ctx context.Context, p *platform, in chat.Inbox) (*feed, error) {
	f := &feed{
		platform: p, in: in, cursors: in.Cursors(), fetching: make(chan struct{}, maxFetching),
		lanes: map[string]*lane{}, current: map[string]bool{},
	}
	if f.cursors == nil {
		return nil, errors.New("the backend stores no cursors")
	}
	err := chat.Retry(ctx, p.log, "reading the position", func(ctx context.Context) (err error) {
		if f.stored[0], err = f.cursors.Read(ctx, cursorPosition); err != nil {
			return err
		}
		f.stored[1], err = f.cursors.Read(ctx, cursorDirects)
		return err
	})
	if err != nil {
		return nil, err
	}
	var valid bool
	if f.from, valid = parseID(f.stored[0]); !valid {
		f.from = idAt(time.Now())
	}
	f.newest, f.directs = f.from, strings.Fields(f.stored[1])
	f.running.Go(func() {
		for chat.Sleep(ctx, p.timing.save) {
			f.save(ctx)
		}
	})
	return f, nil
}

// begin is called when a session begins: messages since the last one may be missing.
func (f *feed) begin(ctx context.Context, guilds []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from = f.position()
	f.pending, f.current = map[string]bool{}, map[string]bool{}
	for _, id := range guilds {
		f.pending[id] = true
	}
	for _, id := range f.directs {
		f.catchUp(ctx, channel{ID: id, Type: typeDirect})
	}
}

// listed is called when the channels of a server are known, or that it is gone.
func (f *feed) listed(ctx context.Context, guild string, all []channel) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range all {
		c.GuildID = guild
		last, _ := parseID(c.LastMessageID)
		if last > f.since() || c.hasThreads() && f.mayHaveArchived() {
			f.catchUp(ctx, c)
		}
		f.current[c.ID] = true
	}
	delete(f.pending, guild)
}

// catchUp reads what a channel's lane lacks. The mutex is held.
func (f *feed) catchUp(ctx context.Context, c channel) {
	f.current[c.ID] = true
	archive := c.hasThreads() && f.mayHaveArchived()
	if l := f.lanes[c.ID]; l != nil {
		l.behind, l.archive = true, archive
		return
	}
	f.start(ctx, &lane{guild: c.GuildID, channel: c.ID, after: f.since(), behind: true, archive: archive})
}

// live takes a message as it is written. The first one in a channel that was not listed may
// not be all that is missing.
func (f *feed) live(ctx context.Context, m *message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := m.GuildID != "" || f.remember(m.ChannelID)
	l := f.lanes[m.ChannelID]
	if l == nil {
		l = &lane{guild: m.GuildID, channel: m.ChannelID, after: m.id - 1, unknown: !known}
		if !f.current[m.ChannelID] {
			f.current[m.ChannelID] = true
			l.after, l.behind = min(l.after, f.since()), true
		}
		defer f.start(ctx, l)
	}
	if l.queue = append(l.queue, m); len(l.queue) > maxWaiting {
		l.queue, l.behind = nil, true
	}
}

// remember puts a direct chat first among those that are read when a session begins, and
// reports whether it was one of them.
func (f *feed) remember(id string) (known bool) {
	known = slices.Contains(f.directs, id)
	f.directs = append([]string{id}, slices.DeleteFunc(f.directs, func(other string) bool { return other == id })...)
	f.directs = f.directs[:min(len(f.directs), maxDirects)]
	return known
}

// since is after which message the channels are read when a session begins: an earlier one
// than the position, as channels may be ahead of each other.
func (f *feed) since() snowflake { return idAt(f.from.time().Add(-f.timing.overlap)) }

// position is up to which message everything was accepted. The mutex is held.
func (f *feed) position() snowflake {
	if len(f.pending) > 0 {
		return f.from
	}
	lowest := f.newest
	for _, l := range f.lanes {
		lowest = min(lowest, l.after)
	}
	return max(lowest, f.from)
}

// save stores the position if it has changed.
func (f *feed) save(ctx context.Context) {
	f.saving.Lock()
	defer f.saving.Unlock()
	f.mu.Lock()
	now := [2]string{f.position().String(), strings.Join(f.directs, " ")}
	f.mu.Unlock()
	for i, name := range []string{cursorDirects, cursorPosition} { // in this order: a direct chat must not be passed over
		i = 1 - i
		if now[i] == f.stored[i] {
			continue
		}
		if err := f.cursors.Store(ctx, name, now[i]); err != nil {
			f.log.Warn("position not stored, will try again", "err", err)
			return
		}
		f.stored[i] = now[i]
	}
}

// start runs a lane until it is empty. The mutex is held.
func (f *feed) start(ctx context.Context, l *lane) {
	f.lanes[l.channel] = l
	f.running.Go(func() {
		if l.unknown {
			f.save(ctx) // before anything else is read from it only once somebody writes there again
		}
		for {
			news, over, err := f.next(ctx, l)
			if err != nil || over {
				return
			}
			for _, m := range news {
				if err := f.deliver(ctx, l, m); err != nil {
					return
				}
			}
		}
	})
}

// next returns the messages that are next in a lane, or that it is over. The error is that ctx
// ended.
func (f *feed) next(ctx context.Context, l *lane) (news []*message, over bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.behind:
		archive := l.archive
		l.behind, l.archive = false, false
		f.mu.Unlock()
		defer f.mu.Lock()
		news, err = f.missed(ctx, l, archive)
	case len(l.queue) > 0:
		news, l.queue = l.queue[:1:1], l.queue[1:]
	default:
		delete(f.lanes, l.channel)
		over = true
	}
	return news, over, err
}

// deliver hands a message to the core until it is accepted. The error is that ctx ended.
func (f *feed) deliver(ctx context.Context, l *lane, m *message) error {
	if m.id <= l.after {
		return nil
	}
	m.GuildID = l.guild
	err := chat.Retry(ctx, f.log, "accepting a message", func(ctx context.Context) error {
		in, err := f.channel(ctx, m.GuildID, m.ChannelID)
		if err != nil {
			return err
		}
		post, err := f.post(m, in)
		if err != nil {
			return err
		}
		_, err = f.in.Deliver(ctx, post)
		if errors.Is(err, chat.ErrPanic) {
			f.log.Error("message dropped: it cannot be handled", "id", m.ID, "channel", m.ChannelID, "err", err)
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l.after, f.newest = m.id, max(f.newest, min(m.id, idAt(time.Now().Add(maxSkew))))
	return nil
}
