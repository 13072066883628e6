// Package matrix is the Matrix channel: an account on a homeserver that receives by /sync,
// in rooms without encryption.
//
// The position in /sync is ours and moves once everything before it was accepted. What a
// long absence leaves out of an answer is read from the room's history, backwards.
//
// Each message is sent with a transaction ID made of its key, which the homeserver takes
// once, and carries the ID of the reply, by which it is found in the room's history.
package matrix

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	// textLimit bounds a message, in bytes of its event, which may have 65,536. The rest is
	// for what servers and relations add.
	textLimit = 56_000
	draftSize = 8_000 // characters of a draft: each edit is an event with all of it
	// commandPrefix is typed before commands: clients take those with a slash for their own.
	commandPrefix = "!"
	// editPause is between two edits of a draft: homeservers take a message every five
	// seconds in the long run unless they are told to take more.
	editPause = 5 * time.Second
	// patience is how long a call waits for a rate limit.
	patience = 6 * time.Second
	// typingLasts is how long "typing" is shown, unless it is shown again.
	typingLasts = 30 * time.Second
)

// Channel is a Matrix account: a [channels.Receiver], [channels.Enricher],
// [channels.RecipientResolver], [channels.Locator] and everything that [chat.Outbound] is.
// Safe for concurrent use; only Run is for one caller at a time.
type Channel struct {
	*platform
	*chat.Channel
}

// New returns a channel. It does not call the homeserver yet.
func New(o Options) (*Channel, error) {
	switch {
	case o.Homeserver == "":
		return nil, errors.New("channels.matrix.homeserver is not set; see docs/matrix.md")
	case o.AccessToken == "":
		return nil, errors.New("channels.matrix.access_token is not set; see docs/matrix.md")
	}
	p := newPlatform(o)
	return &Channel{platform: p, Channel: chat.New(p, p.o.Options)}, nil
}

// platform is Matrix as a [chat.Platform].
type platform struct {
	*client
	o      Options
	pace   chat.Pace // zero fields: the core's default
	rooms  *chat.Cache[room]
	events *chat.Cache[origin]
	people *chat.People

	mu     sync.Mutex
	self   *account        // nil: not asked for yet
	sealed map[string]bool // encrypted rooms that the log told of
}

func newPlatform(o Options) *platform {
	o = o.withDefaults()
	p := &platform{client: newClient(o), o: o, pace: chat.Pace{Edit: editPause}, sealed: map[string]bool{}}
	p.rooms = chat.NewCache(roomLasts, p.lookAtRoom)
	p.events = chat.NewCache(originLasts, p.lookForOrigin)
	p.people = chat.NewPeople(p.look)
	return p
}

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// Limits implements [chat.Platform].
func (p *platform) Limits() chat.Limits {
	return chat.Limits{Text: textLimit, Measure: sizeOf, Code: chat.Code{Runes: 8000, Lines: 150}, Draft: draftSize, Pace: p.pace}
}

// account is who we are.
type account struct {
	ID     string `json:"user_id"`
	Device string `json:"device_id"`
	Name   string `json:"displayname"` // empty: none is set
}

// Identify implements [chat.Platform].
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	self, err := p.whoAmI(ctx)
	return chat.Self{ID: self.ID, Name: self.ID}, err
}

// whoAmI asks the homeserver who the token belongs to, and remembers the answer.
func (p *platform) whoAmI(ctx context.Context) (account, error) {
	p.mu.Lock()
	known := p.self
	p.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	var self account
	if err := p.call(ctx, request{name: "whoami", path: "/_matrix/client/v3/account/whoami"}, &self); err != nil {
		return account{}, err
	}
	who, err := p.look(ctx, self.ID)
	if err != nil {
		return account{}, err
	}
	self.Name = who.Name
	p.mu.Lock()
	defer p.mu.Unlock()
	p.self = &self
	return self, nil
}

// directMark begins the chat of a room in which a person is alone with us.
const directMark = "direct/"

// IsDirect reports whether a chat is a room in which a person is alone with us.
func IsDirect(chat string) bool { return strings.HasPrefix(chat, directMark) }

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(chat string) bool { return IsDirect(chat) }

// roomOf returns the ID of a chat's room.
func roomOf(chat string) string { return strings.TrimPrefix(chat, directMark) }

// Indicates implements [chat.Indicator].
func (*platform) Indicates(context.Context, chat.Place) (chat.Indicates, error) {
	return chat.Indicates{Text: true, Lapse: typingLasts * 4 / 5}, nil
}

// Indicate implements [chat.Indicator]: people see that we type, whatever the agent does.
func (p *platform) Indicate(ctx context.Context, at chat.Place, what chat.Indication) error {
	self, err := p.whoAmI(ctx)
	if err != nil {
		return err
	}
	body := map[string]any{"typing": what.Text != ""}
	if what.Text != "" {
		body["timeout"] = typingLasts.Milliseconds()
	}
	return p.limits.Do(ctx, "typing", "", false, func(ctx context.Context) error {
		return p.call(ctx, request{name: "typing", method: http.MethodPut, path: roomPath(at.Chat, "typing", self.ID), body: body}, nil)
	})
}

// Whisper implements [chat.Whisperer]. Matrix has no messages for one person of a room:
// there, everybody sees it as a reply to that person.
func (p *platform) Whisper(ctx context.Context, at chat.Place, _, text string) error {
	_, err := p.Post(ctx, at, chat.Message{Text: text})
	return err
}
