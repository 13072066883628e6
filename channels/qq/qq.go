// Package qq is the channel for QQ's official bots: direct messages and messages in groups
// that mention the bot, over QQ's gateway or webhooks.
//
// QQ takes nothing but replies: five to each message, for an hour in direct chats and for
// five minutes in groups. What comes later is kept and sent as a reply to the chat's next
// message. A reply is identified by the message that it answers (msg_id) and its number
// (msg_seq), so that an attempt whose answer was lost can be repeated.
package qq

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
)

// Channel is a QQ bot. Safe for concurrent use; only Run is for one caller at a time.
type Channel struct {
	*platform
	*chat.Channel
}

// New returns a channel. It does not call QQ yet.
func New(o Options) (*Channel, error) {
	switch {
	case o.AppID == "":
		return nil, errors.New("channels.qq.app_id is not set")
	case o.Secret == "":
		return nil, errors.New("channels.qq.secret is not set")
	}
	p := newPlatform(o.withDefaults())
	return &Channel{platform: p, Channel: chat.New(p, p.o.Options)}, nil
}

// platform is QQ as a [chat.Platform].
type platform struct {
	o       Options
	web     *web.Client
	files   *web.Files
	limits  chat.Limiter
	token   chat.Token
	webhook *chat.Webhook // of ModeHTTP
}

func newPlatform(o Options) *platform {
	p := &platform{
		o:      o,
		web:    web.NewClient(Name, callTimeout, maxAnswer),
		files:  web.NewFiles(Name, "QQ", fileTimeout, web.Hosts(mediaHosts, o.APIURL)),
		limits: chat.Limiter{Service: Name},
	}
	p.token.Fetch = p.fetchToken
	p.webhook = newWebhook(p)
	return p
}

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// Limits implements [chat.Platform].
func (p *platform) Limits() chat.Limits {
	return chat.Limits{
		Text: p.o.TextLimit, Answer: answerParts, Pace: chat.Pace{Notice: p.o.NoticeAfter},
		Prepare: func(text string) string { return markdown.Rewrite(text, !p.o.Markdown, unchanged, unchanged) },
	}
}

func unchanged(s string) string { return s }

// content returns a text as QQ shows it.
func (p *platform) content(text string) string {
	if p.o.Markdown {
		return text
	}
	return markdown.Render(text, markdown.Style{})
}

// KeyLasts implements [chat.Keyed]: replies are possible for an hour at most.
func (*platform) KeyLasts() time.Duration { return time.Hour }

// Identify implements [chat.Platform].
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	var self struct {
		ID   string `json:"id"`
		Name string `json:"username"`
	}
	err := p.call(ctx, http.MethodGet, "/users/@me", "", nil, &self)
	return chat.Self{ID: self.ID, Name: self.Name}, err
}

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	return chat.Words{Group: "group", FindPerson: "the log shows the openid of who was refused", FindGroup: "the log shows the openid of a group that was refused"}
}

// Hook implements [chat.Hooked].
func (p *platform) Hook() *chat.Webhook {
	if p.o.Mode == ModeHTTP {
		return p.webhook
	}
	return nil
}

// Receive implements [chat.Platform].
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error {
	if p.o.Mode == ModeHTTP {
		return p.webhook.Serve(ctx, in)
	}
	return p.receiveSocket(ctx, in)
}

// The kinds of chats, which precede QQ's IDs.
const (
	directChat = "user/"
	groupChat  = "group/"
)

// IsDirect reports whether a chat is a direct one.
func IsDirect(chat string) bool { return strings.HasPrefix(chat, directChat) }

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(chat string) bool { return IsDirect(chat) }

// Locate implements [channels.Locator].
func (*platform) Locate(_ context.Context, chat, thread string) (string, error) {
	kind, id, _ := strings.Cut(chat, "/")
	switch {
	case kind+"/" != directChat && kind+"/" != groupChat || id == "" || strings.Contains(id, "/"):
		return "", channels.MalformedError{What: "chat", Value: chat, Want: "user/ or group/ and QQ's openid, as `holdfast sessions list` shows it"}
	case thread != "":
		return "", channels.MalformedError{What: "thread", Value: thread, Want: "empty: QQ has no threads"}
	}
	return chat, nil
}
