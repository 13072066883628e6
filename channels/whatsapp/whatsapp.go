// Package whatsapp is the channel for a business number on the WhatsApp Cloud API: people
// write to it directly; there are no groups.
//
// WhatsApp takes messages for 24 hours after the last one of the person. It recognizes no
// message that is sent again, but reports those that were sent, with a key of ours: after
// a call without an answer such a report is waited for before the message is sent again.
package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Channel is a business number. Safe for concurrent use; only Run is for one caller at a
// time.
type Channel struct {
	*platform
	*chat.Channel
}

// New returns a channel. It does not call WhatsApp yet.
func New(o Options) (*Channel, error) {
	for setting, value := range map[string]string{
		"phone_number_id": o.PhoneNumberID, "access_token": o.AccessToken, "app_secret": o.AppSecret, "verify_token": o.VerifyToken,
	} {
		if value == "" {
			return nil, fmt.Errorf("channels.whatsapp.%s is not set", setting)
		}
	}
	p := newPlatform(o.withDefaults())
	return &Channel{platform: p, Channel: chat.New(p, p.o.Options)}, nil
}

// platform is WhatsApp as a [chat.Platform].
type platform struct {
	o       Options
	web     *web.Client
	files   *web.Files
	limits  chat.Limiter
	webhook *chat.Webhook
	store   atomic.Pointer[channels.Store] // what the processes share; nil: nothing
}

func newPlatform(o Options) *platform {
	p := &platform{
		o:      o,
		web:    web.NewClient(Name, callTimeout, maxAnswer),
		files:  web.NewFiles(Name, "WhatsApp", fileTimeout, web.Hosts(mediaHosts, o.APIURL)),
		limits: chat.Limiter{Service: Name},
	}
	p.files.Header = http.Header{"Authorization": {"Bearer " + o.AccessToken}, "User-Agent": {"holdfast"}} // without one, Meta refuses
	p.webhook = newWebhook(p)
	return p
}

// UseStore implements [channels.Stored].
func (p *platform) UseStore(s channels.Store) { p.store.Store(&s) }

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// marks are WhatsApp's formatting.
var marks = markdown.Style{
	Bold: markdown.Around("*"), Italic: markdown.Around("_"), Strike: markdown.Around("~"), Code: markdown.Around("`"), Block: markdown.Fenced,
}

const textLimit = 4096 // characters of a message

// Limits implements [chat.Platform].
func (*platform) Limits() chat.Limits {
	unchanged := func(s string) string { return s }
	return chat.Limits{
		Text: textLimit, Measure: func(text string) int { return chat.UTF16(markdown.Render(text, marks)) },
		Prepare: func(text string) string { return markdown.Rewrite(text, true, unchanged, unchanged) },
		Code:    chat.Code{Runes: 3000, Lines: 100}, Buttons: true,
		Pace: chat.Pace{Status: typingLasts},
	}
}

// Identify implements [chat.Platform].
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	var self struct {
		Number string `json:"display_phone_number"`
		Name   string `json:"verified_name"`
	}
	err := p.call(ctx, http.MethodGet, url.PathEscape(p.o.PhoneNumberID)+"?fields=display_phone_number,verified_name", "", nil, &self)
	if err != nil {
		return chat.Self{}, err
	}
	if self.Number == "" {
		return chat.Self{}, &remote.Error{
			Service: Name, Status: http.StatusServiceUnavailable, RetryAfter: web.OperatorDelay,
			Err: errors.New("channels.whatsapp.phone_number_id is no phone number: copy it from the app's API Setup page"),
		}
	}
	return chat.Self{ID: p.o.PhoneNumberID, Name: self.Name + " " + self.Number}, nil
}

// Receive implements [chat.Platform].
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error { return p.webhook.Serve(ctx, in) }

// Hook implements [chat.Hooked].
func (p *platform) Hook() *chat.Webhook { return p.webhook }

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	return chat.Words{FindPerson: "a person's ID is the phone number with country code, such as 4915112345678; the log shows it of who was refused"}
}

// IsDirect reports whether a chat is a direct one: all are.
func IsDirect(string) bool { return true }

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(string) bool { return true }

// Locate implements [channels.Locator].
func (*platform) Locate(_ context.Context, chat, thread string) (string, error) {
	switch {
	case chat == "":
		return "", channels.MalformedError{What: "chat", Want: "a phone number with country code, such as 4915112345678"}
	case thread != "":
		return "", channels.MalformedError{What: "thread", Value: thread, Want: "empty: WhatsApp has no threads"}
	}
	return plainNumber(chat), nil
}
