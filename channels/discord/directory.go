package discord

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// channel is a channel of a server, a thread in one, or a direct chat.
type channel struct {
	ID            string      `json:"id"`
	GuildID       string      `json:"guild_id"`
	ParentID      string      `json:"parent_id"`
	OwnerID       string      `json:"owner_id"` // of a thread: who began it
	Name          string      `json:"name"`
	Type          int         `json:"type"`
	LastMessageID string      `json:"last_message_id"`
	Overwrites    []overwrite `json:"permission_overwrites"`
	Metadata      struct {
		ArchivedAt time.Time `json:"archive_timestamp"`
	} `json:"thread_metadata"`
}

// The types of channels that are treated in a way of their own.
const (
	typeDirect       = 1
	typeCategory     = 4
	typeAnnouncement = 5
	typeThread       = 10 // to typePrivateThread
	typePrivate      = 12
	typeForum        = 15
	typeMedia        = 16
)

func (c channel) isThread() bool { return c.Type >= typeThread && c.Type <= typePrivate }

// hasThreads reports whether people can open threads in a channel.
func (c channel) hasThreads() bool {
	return c.Type == 0 || c.Type == typeAnnouncement || c.Type == typeForum || c.Type == typeMedia
}

// directServer stands for the server in the ID of a direct chat, as in Discord's links.
const directServer = "@me"

// IsDirect reports whether a chat is a direct message with one person.
func IsDirect(chat string) bool { return strings.HasPrefix(chat, directServer+"/") }

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(chat string) bool { return IsDirect(chat) }

// chatOf returns the chat that a channel is in the rest of the program: SERVER/CHANNEL.
func chatOf(guild, channel string) string {
	if guild == "" {
		guild = directServer
	}
	return guild + "/" + channel
}

// channelOf returns Discord's ID of a chat.
func channelOf(chat string) string { return chat[strings.LastIndexByte(chat, '/')+1:] }

// directory is what Discord announced about channels, and our roles.
type directory struct {
	mu       sync.Mutex
	channels map[string]channel
	roles    map[string]bool
}

// maxKnown bounds what a directory remembers.
const maxKnown = 200_000

func (d *directory) put(guild string, all ...channel) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.channels) > maxKnown {
		clear(d.channels) // they are looked up again
	}
	for _, c := range all {
		c.GuildID = guild
		d.channels[c.ID] = c
	}
}

func (d *directory) get(id string) (channel, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, found := d.channels[id]
	return c, found
}

func (d *directory) putRole(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.roles == nil {
		d.roles = map[string]bool{}
	}
	d.roles[id] = true
}

func (d *directory) isOurRole(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.roles[id]
}

// channel returns a channel. Discord announces all that we can see, except old threads.
func (p *platform) channel(ctx context.Context, guild, id string) (channel, error) {
	if guild == "" {
		return channel{ID: id, Type: typeDirect}, nil
	}
	c, found := p.announced.get(id)
	if found {
		return c, nil
	}
	err := p.call(ctx, request{method: http.MethodGet, route: "/channels/%s", ids: []string{id}}, &c)
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		return channel{ID: id, GuildID: guild}, nil // it is gone, and so will be whatever is said about it
	}
	if err == nil {
		p.announced.put(guild, c)
	}
	return c, err
}

// snowflake is one of Discord's IDs, which grow with time.
type snowflake uint64

// epoch is when Discord's IDs begin, in milliseconds.
const epoch = 1_420_070_400_000

func parseID(id string) (snowflake, bool) {
	n, err := strconv.ParseUint(id, 10, 63)
	return snowflake(n), err == nil && n > 0
}

// idAt returns the lowest ID of a time; 0 if that is before Discord's.
func idAt(t time.Time) snowflake {
	return snowflake(max(t.UnixMilli()-epoch, 0)) << 22
}

func (s snowflake) time() time.Time { return time.UnixMilli(int64(s>>22) + epoch).UTC() }

func (s snowflake) String() string { return strconv.FormatUint(uint64(s), 10) }
