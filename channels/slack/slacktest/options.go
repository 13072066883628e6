package slacktest

import "time"

// The workspace and the app of every server.
const (
	Team    = "T0TEAM"
	App     = "A0APP"
	BotUser = "U0BOT" // the user that the app posts as, and that is mentioned
	Bot     = "B0BOT" // the bot_id of what it posts

	BotToken      = "xoxb-1-bot"
	AppToken      = "xapp-1-app"
	SigningSecret = "8f742231b10e8888abcd99yyyzzz85a5"
)

// The people and channels that every server begins with. The bot is a member of
// all of them.
const (
	Ana     = "U0ANA" // in Europe/Berlin
	Ben     = "U0BEN" // in America/New_York
	General = "C0GENERAL"
	Secret  = "C0SECRET" // private
	DM      = "D0ANA"    // with Ana
)

// AllScopes are the bot token's scopes unless Scopes is given.
var AllScopes = []string{
	"app_mentions:read", "assistant:write", "channels:history", "channels:join", "channels:read", "chat:write", "commands",
	"files:read", "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write",
	"mpim:history", "mpim:read", "reactions:read", "reactions:write", "users:read",
}

// Option changes a server.
type Option func(*settings)

type settings struct {
	address     string
	granted     []string
	ackTimeout  time.Duration
	retryDelays []time.Duration
	ping        time.Duration
	subscribed  map[string]bool // nil: to all
	silent      bool
}

func defaults() settings {
	return settings{
		address:     "127.0.0.1:0",
		granted:     AllScopes,
		ackTimeout:  3 * time.Second,
		retryDelays: []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond},
		ping:        5 * time.Second,
	}
}

// Address listens there instead of on a free port of 127.0.0.1.
func Address(address string) Option { return func(o *settings) { o.address = address } }

// Scopes are the bot token's scopes, instead of AllScopes.
func Scopes(scopes ...string) Option { return func(o *settings) { o.granted = scopes } }

// AckTimeout is how long the app has to acknowledge, instead of Slack's 3 s.
func AckTimeout(d time.Duration) Option { return func(o *settings) { o.ackTimeout = d } }

// RetryDelays are the pauses before an event is delivered again, instead of
// 10, 100 and 500 ms. (Slack's are: none, 1 minute, 5 minutes.)
func RetryDelays(delays ...time.Duration) Option {
	return func(o *settings) { o.retryDelays = delays }
}

// PingInterval is how often a Socket Mode connection is pinged, instead of 5 s.
func PingInterval(d time.Duration) Option { return func(o *settings) { o.ping = d } }

// Subscribe limits the events to these, instead of all: "message.channels",
// "message.groups", "message.im", "message.mpim", "app_mention",
// "reaction_added" and so on.
func Subscribe(names ...string) Option {
	return func(o *settings) {
		o.subscribed = map[string]bool{}
		for _, name := range names {
			o.subscribed[name] = true
		}
	}
}

// WithoutEcho keeps the events away that the app's own doings cause. Slack sends
// them.
func WithoutEcho() Option { return func(o *settings) { o.silent = true } }

// SetScopes changes the bot token's scopes, as a reinstalled app does.
func (s *Server) SetScopes(scopes ...string) {
	defer s.act()()
	s.scopes = scopes
}
