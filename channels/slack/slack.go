// Package slack is the Slack channel: it receives messages over Socket Mode or the Events
// API, and sends replies into the thread they belong to.
//
// A conversation is a thread in a channel, a direct message, or a thread in one.
// Accepting a message calls nothing at Slack, so it can be acknowledged within Slack's
// three seconds; workers add names, files and what was said before ([chat.Enricher]).
package slack

import (
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
)

// Name is the channel's name.
const Name = "slack"

// What Options.Mode may be.
const (
	ModeSocket = "socket" // we connect to Slack: needs an app-level token
	ModeHTTP   = "http"   // Slack connects to us: needs a signing secret and a public URL
)

// Options are the settings of the channel. See config.Slack for what they mean.
type Options struct {
	Mode          string
	BotToken      string
	AppToken      string
	SigningSecret string
	Listen        string // host:port of ModeHTTP
	Path          string // of ModeHTTP, such as /slack
	APIURL        string // empty: Slack's own
	AllowUsers    []string
	AllowChannels []string
	AllowBots     []string
	Respond       string
	Stream        bool
	FileLimit     int64 // bytes of an attached file
	Logger        *slog.Logger
}

// Channel is a connection to one Slack workspace: a [channels.Receiver],
// [channels.Sender], [channels.Finder], [channels.Splitter], [channels.RecipientResolver]
// and [channels.Enricher]. Safe for concurrent use; only Run is for one at a time.
type Channel struct {
	*chat.Receiver
	*chat.Enricher
	*chat.Resolver
	*chat.Outbound

	o   Options
	log *slog.Logger
	api *slack.Client

	web    *http.Client // for what the library does not do
	files  *http.Client
	limits chat.Limiter
	people *chat.People

	noStatus    atomic.Bool // the app cannot set a status
	statusLapse time.Duration
	pace        chat.Pace // zero fields: the core's default

	pingTimeout time.Duration // 0: the default
	webhook     *chat.Webhook // of ModeHTTP

	selfMu sync.Mutex
	self   *Identity
}

// New returns a channel. It asks Slack for nothing yet.
func New(o Options) (*Channel, error) {
	if o.BotToken == "" {
		return nil, errors.New("channels.slack.bot_token is not set; it begins with xoxb-")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Channel{
		o: o, log: o.Logger, api: newAPI(o),
		web:    newHTTP(o, callTimeout),
		files:  newHTTP(o, fileTimeout),
		limits: chat.Limiter{Service: Name}, statusLapse: statusLapse,
	}
	c.people = chat.NewPeople(c.look)
	c.webhook = newWebhook(c)
	c.Receiver = chat.NewReceiver(platform{c}, c.receiverOptions())
	c.Enricher = chat.NewEnricher(platform{c}, chat.EnricherOptions{FileLimit: o.FileLimit, Respond: o.Respond})
	c.Resolver = chat.NewResolver(platform{c}, c.access())
	c.Outbound = chat.NewOutbound(platform{c}, chat.OutboundOptions{Drafts: o.Stream, Logger: o.Logger})
	return c, nil
}

func (c *Channel) access() chat.Access {
	return chat.Access{Users: c.o.AllowUsers, Chats: c.o.AllowChannels, Bots: c.o.AllowBots}
}

func (c *Channel) receiverOptions() chat.ReceiverOptions {
	return chat.ReceiverOptions{
		Access:  c.access(),
		Respond: c.o.Respond, CommandPrefix: "/holdfast ", Logger: c.log,
	}
}

// Identity is who we are at Slack.
type Identity struct {
	TeamID string
	Team   string
	Name   string // of the bot
	UserID string // of the bot, as in mentions
	BotID  string // of the bot, as in its messages
	Scopes []string
}

// Identify asks Slack who the bot token belongs to; the answer is kept.
func (c *Channel) Identify(ctx context.Context) (Identity, error) {
	c.selfMu.Lock()
	defer c.selfMu.Unlock()
	if c.self != nil {
		return *c.self, nil
	}
	var answer *slack.AuthTestResponse
	err := c.call(ctx, "auth.test", "", func(ctx context.Context) (err error) {
		answer, err = c.api.AuthTestContext(ctx)
		return err
	})
	if err != nil {
		return Identity{}, fmt.Errorf("ask slack who we are: %w", err)
	}
	c.self = &Identity{
		TeamID: answer.TeamID, Team: answer.Team, Name: answer.User, UserID: answer.UserID, BotID: answer.BotID,
		Scopes: splitScopes(answer.Header.Get("X-Oauth-Scopes")),
	}
	return *c.self, nil
}
