package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
)

const (
	// keyLasts is for how long Discord recognizes a nonce: "the past few minutes".
	keyLasts = 2 * time.Minute
	// patience is how long a call waits for a rate limit. That of messages in a channel
	// lasts five seconds.
	patience = 6 * time.Second
)

// identity is the bot's account.
type identity struct {
	id, name, application string
	content               bool // the Message Content intent is on
}

// platform is Discord as a [chat.Platform].
type platform struct {
	o     Options
	log   *slog.Logger
	web   *web.Client
	files *web.Files

	limits    chat.Limiter
	invalid   invalidCalls
	announced directory
	pace      chat.Pace // zero fields: the core's default
	timing    timing

	mu       sync.Mutex
	self     *identity       // nil: not asked for yet
	unmarked map[string]bool // channels in which we may not react
}

// timing has what tests shorten.
type timing struct {
	deferral time.Duration // after which an interaction is answered before it is accepted
	save     time.Duration // between two stores of the position
	identify time.Duration // between two sessions
	operator time.Duration // between two attempts while the operator has to change something
	overlap  time.Duration // by which messages are read again after a session was lost
}

func newPlatform(o Options) *platform {
	return &platform{
		o: o, log: o.Logger, limits: chat.Limiter{Service: Name, Patience: patience}, announced: directory{channels: map[string]channel{}},
		web: web.NewClient(Name, callTimeout, maxAnswer), files: web.NewFiles(Name, "Discord", fileTimeout, web.Hosts(fileHosts, o.APIURL)),
		unmarked: map[string]bool{},
		timing:   timing{deferral: 1500 * time.Millisecond, save: time.Second, identify: 5 * time.Second, operator: 5 * time.Minute, overlap: time.Minute},
	}
}

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// KeyLasts implements [chat.Keyed].
func (*platform) KeyLasts() time.Duration { return keyLasts }

// Limits implements [chat.Platform].
func (p *platform) Limits() chat.Limits {
	pace := p.pace
	if pace.Status == 0 {
		pace.Status = typingLasts
	}
	return chat.Limits{
		Text: textLimit, Measure: sizeOf, Prepare: render, Code: chat.Code{Runes: 1800, Lines: 100}, Draft: 1500, Buttons: true, Pace: pace,
	}
}

// Identify implements [chat.Platform].
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	self, err := p.identify(ctx)
	return chat.Self{ID: self.id, Name: self.name}, err
}

// contentFlags are those of an application that may read messages: in all servers, or while
// it is in fewer than 100.
const contentFlags = 1<<18 | 1<<19

// identify asks Discord who the token belongs to, and remembers the answer.
func (p *platform) identify(ctx context.Context) (identity, error) {
	if self, err := p.known(); err == nil {
		return self, nil
	}
	var application struct {
		ID    string `json:"id"`
		Flags int64  `json:"flags"`
	}
	var bot user
	err := p.call(ctx, request{method: http.MethodGet, route: "/users/@me"}, &bot)
	if err == nil {
		err = p.call(ctx, request{method: http.MethodGet, route: "/applications/@me"}, &application)
	}
	if err != nil {
		return identity{}, fmt.Errorf("identify with discord: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.self = &identity{id: bot.ID, name: bot.name(), application: application.ID, content: application.Flags&contentFlags != 0}
	return *p.self, nil
}

var errNotReady = errors.New("not yet identified with discord")

// known returns the bot's identity without a call.
func (p *platform) known() (identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.self == nil {
		return identity{}, errNotReady
	}
	return *p.self, nil
}
