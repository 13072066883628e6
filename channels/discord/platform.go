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
)

const (
	// keyLasts is for how long Discord recognizes a nonce: "the past few minutes".
	keyLasts = 2 * time.Minute
	// patience is how long a call waits for a rate limit. That of messages in a channel
	// lasts five seconds.
	patience = 6 * time.Second
)

// Identity is the bot's account.
type Identity struct {
	ID   string
	Name string
	// ReadsMessages reports whether the Message Content intent is on.
	ReadsMessages bool
}

// platform is Discord as a [chat.Platform].
type platform struct {
	o     Options
	log   *slog.Logger
	web   *http.Client
	files *http.Client

	limits    chat.Limiter
	invalid   invalidCalls
	announced directory
	pace      chat.Pace // zero fields: the core's default
	timing    timing

	mu       sync.Mutex
	identity *Identity       // nil: not asked for yet
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
		web: newHTTP(callTimeout), files: newHTTP(fileTimeout), unmarked: map[string]bool{},
		timing: timing{deferral: 1500 * time.Millisecond, save: time.Second, identify: 5 * time.Second, operator: 5 * time.Minute, overlap: time.Minute},
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
	self, err := p.self(ctx)
	return chat.Self{ID: self.ID, Name: self.Name}, err
}

// contentFlags are those of an application that may read messages: in all servers, or while
// it is in fewer than 100.
const contentFlags = 1<<18 | 1<<19

// self asks Discord who the token belongs to, and remembers the answer.
func (p *platform) self(ctx context.Context) (Identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.identity != nil {
		return *p.identity, nil
	}
	var application struct {
		Flags int64 `json:"flags"`
		Bot   user  `json:"bot"`
	}
	if err := p.call(ctx, request{method: http.MethodGet, route: "/applications/@me"}, &application); err != nil {
		return Identity{}, fmt.Errorf("identify with discord: %w", err)
	}
	bot := application.Bot
	if bot.ID == "" { // it is not always included
		if err := p.call(ctx, request{method: http.MethodGet, route: "/users/@me"}, &bot); err != nil {
			return Identity{}, fmt.Errorf("identify with discord: %w", err)
		}
	}
	p.identity = &Identity{ID: bot.ID, Name: bot.name(), ReadsMessages: application.Flags&contentFlags != 0}
	return *p.identity, nil
}

var errNotReady = errors.New("not yet identified with discord")

// known returns the bot's identity without a call.
func (p *platform) known() (Identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.identity == nil {
		return Identity{}, errNotReady
	}
	return *p.identity, nil
}
