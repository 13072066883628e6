// Package wechat is the WeChat channel: a personal account's bot, by Tencent's bot API
// (iLink). It polls for messages and answers them, in direct chats only.
//
// WeChat lets a bot write to a person for a day after the person's last message, and
// about ten times. Each message carries the token of that last message. So the receiver
// stores a chat's token before it accepts the message, and the sender counts beside it;
// both are in the store, since they may be different processes.
package wechat

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
)

// textLimit is the length of a message, in characters. WeChat takes 4,000; the rest is for
// what a last message adds.
const textLimit = 3900

// Channel is a WeChat account: a [channels.Receiver], [channels.Sender],
// [channels.Splitter], [channels.Presenter] and [channels.Enricher]. Safe for concurrent
// use; only Run is for one caller at a time.
type Channel struct {
	*platform
	*chat.Channel
}

// New returns a channel. It calls nothing yet, and needs a store before it does
// ([channels.Stored]).
func New(o Options) *Channel {
	p := newPlatform(o)
	return &Channel{platform: p, Channel: chat.New(p, chat.Options{
		ReceiverOptions: chat.ReceiverOptions{Access: chat.Access{Users: o.AllowUsers}, Respond: chat.RespondMention, CommandPrefix: "/", Logger: p.o.Logger},
		FileLimit:       o.FileLimit,
	})}
}

// platform is WeChat as a [chat.Platform].
type platform struct {
	o         Options
	client    *client
	files     *web.Files
	notes     notes
	limits    chat.Limiter
	pace      chat.Pace     // zero fields: the core's default
	look      time.Duration // how often a new login is looked for
	throttled time.Duration // how long to wait after a refusal

	login page

	mu      sync.Mutex
	next    time.Time // when the next message may be sent
	tickets map[string]ticket
}

func newPlatform(o Options) *platform {
	o = o.withDefaults()
	return &platform{
		o: o, client: newClient(o), files: web.NewFiles(Name, "WeChat", fileTimeout, o.hosts()), limits: chat.Limiter{Service: Name},
		look: lookEvery, throttled: throttled, tickets: map[string]ticket{},
	}
}

func (o Options) withDefaults() Options {
	o.APIURL, o.CDNURL = cmp.Or(o.APIURL, DefaultAPIURL), cmp.Or(o.CDNURL, DefaultCDNURL)
	o.Window, o.Replies = cmp.Or(o.Window, 24*time.Hour), cmp.Or(o.Replies, 10)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// UseStore implements [channels.Stored].
func (p *platform) UseStore(s channels.Store) { p.notes.store = s }

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// Limits implements [chat.Platform].
func (p *platform) Limits() chat.Limits {
	return chat.Limits{
		Text: textLimit, Measure: func(text string) int { return chat.Runes(markdown.Plain(text)) },
		Code: chat.Code{Runes: 3000, Lines: 100}, Pace: p.pace,
	}
}

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(chat string) bool { return IsDirect(chat) }

// IsDirect reports that a chat is with one person, as all are.
func IsDirect(string) bool { return true }

// Identify implements [chat.Platform]. It waits for the login.
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	account, err := p.await(ctx, Account{})
	return chat.Self{ID: account.BotID, Name: account.BotID}, err
}
