// Package dingtalk is the DingTalk channel: a robot of an internal app in stream mode.
// DingTalk delivers over a WebSocket that we open; replies are calls of its API.
//
// A chat is a group (its conversation ID, which begins with cid) or a person (their staff
// ID). Replies are cards if a template is configured: a card has an ID of our own, so it is
// created once and then only changed. Otherwise they are plain messages, which DingTalk
// neither recognizes nor shows again.
package dingtalk

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
)

// textLimit is the length of a message, in characters.
const textLimit = 4500

// Channel is a DingTalk robot: a [channels.Receiver], [channels.Sender],
// [channels.Splitter], [channels.Presenter], [channels.Enricher] and [channels.Stored]. Safe
// for concurrent use; only Run is for one caller at a time.
type Channel struct {
	*platform
	*chat.Channel
}

// New returns a channel. It does not call DingTalk yet.
func New(o Options) (*Channel, error) {
	if o.ClientID == "" || o.ClientSecret == "" {
		return nil, errors.New("channels.dingtalk.client_id and .client_secret are not set")
	}
	p := newPlatform(o.withDefaults())
	if o.CardTemplate == "" {
		return &Channel{platform: p, Channel: chat.New(p, p.o.Options)}, nil
	}
	return &Channel{platform: p, Channel: chat.New(cards{p}, p.o.Options)}, nil
}

// platform is DingTalk as a [chat.Platform].
type platform struct {
	o      Options
	web    *web.Client
	files  *web.Files
	token  chat.Token
	limits chat.Limiter
	notes  channels.Store // nil: cards have no buttons
	pace   chat.Pace      // zero fields: the core's default
	silent time.Duration  // how long a connection may be silent
}

func newPlatform(o Options) *platform {
	p := &platform{
		o: o, web: web.NewClient(Name, callTimeout, maxAnswer), files: web.NewFiles(Name, "DingTalk", fileTimeout, o.trusts),
		limits: chat.Limiter{Service: Name, Patience: patience}, silent: maxSilence,
	}
	p.token.Fetch = p.fetchToken
	return p
}

// UseStore implements [channels.Stored].
func (p *platform) UseStore(s channels.Store) { p.notes = s }

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// Limits implements [chat.Platform].
func (p *platform) Limits() chat.Limits {
	return chat.Limits{
		Text: textLimit, Measure: func(text string) int { return chat.Runes(render(text)) },
		Code: chat.Code{Runes: 3500, Lines: 100}, Pace: p.pace,
	}
}

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(chat string) bool { return IsDirect(chat) }

// IsDirect reports whether a chat is with one person.
func IsDirect(chat string) bool { return !strings.HasPrefix(chat, "cid") }

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	return chat.Words{
		Group:      "group",
		FindPerson: "the log shows the staff ID of who was refused",
		FindGroup:  "the log shows the ID of a group that was refused",
	}
}

// Identify implements [chat.Platform]. The app's credentials are all that identifies it.
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	_, err := p.token.Get(ctx)
	return chat.Self{ID: p.o.RobotCode, Name: p.o.RobotCode}, err
}

// render returns Markdown as DingTalk shows it: line breaks need two spaces, and tables
// are drawn.
func render(text string) string {
	return markdown.Rewrite(text, true, func(prose string) string { return strings.ReplaceAll(prose, "\n", "  \n") }, unchanged)
}

func unchanged(code string) string { return code }
