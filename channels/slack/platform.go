package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Identity is the bot's identity at Slack.
type Identity struct {
	TeamID string
	Team   string
	Name   string // of the bot
	UserID string // of the bot, as in mentions
	BotID  string // of the bot, as in its messages
	Scopes []string
}

// platform is Slack as a [chat.Platform].
type platform struct {
	o   Options
	log *slog.Logger
	api *slack.Client

	web     *http.Client // for calls that the library does not support
	files   *http.Client
	limits  chat.Limiter
	webhook *chat.Webhook // of ModeHTTP

	people   *chat.People
	accounts *chat.Cache[account]  // by user
	groups   *chat.Cache[[]string] // members by user group

	streams     streams
	noStatus    atomic.Bool   // the app cannot set a status
	noTitles    atomic.Bool   // nor titles of threads
	statusLapse time.Duration // 0: the default
	pace        chat.Pace     // zero fields: the core's default
	pingTimeout time.Duration // 0: the default

	mu       sync.Mutex
	identity *Identity // nil: not asked for yet
}

func newPlatform(o Options) *platform {
	return &platform{
		o: o, log: o.Logger, api: newAPI(o),
		web:    newHTTP(o, callTimeout),
		files:  newHTTP(o, fileTimeout),
		limits: chat.Limiter{Service: Name},
	}
}

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// Limits implements [chat.Platform].
func (p *platform) Limits() chat.Limits {
	pace := p.pace
	pace.Part = cmp.Or(pace.Part, time.Second)
	return chat.Limits{
		Text: partLimit, Measure: sizeOf, Prepare: drawn, Code: chat.Code{Runes: 3000, Lines: 60},
		Draft: 3500, Buttons: true, Pace: pace,
	}
}

// Identify implements [chat.Platform].
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	self, err := p.self(ctx)
	if failed := remote.As(err); failed != nil && (failed.Permanent() || misconfigured[code(err)] != "") {
		err = fmt.Errorf("%w; check channels.slack.bot_token", err)
	}
	return chat.Self{Scope: self.TeamID, ID: self.UserID, Name: self.Name}, err
}

// self asks Slack who the bot token belongs to, and remembers the answer.
func (p *platform) self(ctx context.Context) (Identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.identity != nil {
		return *p.identity, nil
	}
	answer, err := ask(ctx, p, "auth.test", p.api.AuthTestContext)
	if err != nil {
		return Identity{}, fmt.Errorf("identify with slack: %w", err)
	}
	p.identity = &Identity{
		TeamID: answer.TeamID, Team: answer.Team, Name: answer.User, UserID: answer.UserID, BotID: answer.BotID,
		Scopes: splitScopes(answer.Header.Get("X-Oauth-Scopes")),
	}
	return *p.identity, nil
}

var errNotReady = errors.New("not yet identified with slack")

// known returns the bot's identity without a call to Slack.
func (p *platform) known() (Identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.identity == nil {
		return Identity{}, errNotReady
	}
	return *p.identity, nil
}

// perChat are the methods that Slack limits per chat.
var perChat = map[string]bool{"chat.postMessage": true, "chat.update": true}

// call makes one call of the Web API: f calls method in a chat (Slack's ID of a channel;
// empty: none). Its error is a [remote.Error]. While Slack asked to wait with such calls, f
// is not called and the error says for how long.
func (p *platform) call(ctx context.Context, method, chat string, f func(context.Context) error) error {
	return p.limits.Do(ctx, method, chat, perChat[method], func(ctx context.Context) error {
		if err := f(ctx); err != nil {
			return p.failure(fmt.Errorf("%s: %w", method, err))
		}
		return nil
	})
}

// ask is [platform.call] for a method that belongs to no chat and returns something.
func ask[T any](ctx context.Context, p *platform, method string, f func(context.Context) (T, error)) (answer T, err error) {
	err = p.call(ctx, method, "", func(ctx context.Context) (err error) {
		answer, err = f(ctx)
		return err
	})
	return answer, err
}
