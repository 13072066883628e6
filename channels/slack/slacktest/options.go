package slacktest

import "time"

// The workspace and the app of every server.
const (
	Team    = "T0TEAM"
	App     = "A0APP"
	BotUser = "U0BOT" // the user that the app posts as
	Bot     = "B0BOT" // the bot_id of what it posts

	BotToken      = "xoxb-1-bot"
	AppToken      = "xapp-1-app"
	SigningSecret = "8f742231b10e8888abcd99yyyzzz85a5"
)

// The initial people and channels of every server. The bot is a member of all channels.
const (
	Ana     = "U0ANA" // in Europe/Berlin
	Ben     = "U0BEN" // in America/New_York
	General = "C0GENERAL"
	Secret  = "C0SECRET" // private
	DM      = "D0ANA"    // with Ana
)

// AllScopes are the default scopes of the bot token.
var AllScopes = []string{
	"app_mentions:read", "assistant:write", "channels:history", "channels:join", "channels:read", "chat:write", "commands",
	"files:read", "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write",
	"mpim:history", "mpim:read", "reactions:read", "reactions:write", "usergroups:read", "users:read",
}

// Option changes a server.
type Option func(*settings)

type settings struct {
	address     string
	granted     []string
	ackTimeout  time.Duration
	retryDelays []time.Duration
	ping        time.Duration
	subscribed  map[string]bool // nil: all
	silent      bool
	postEvery   time.Duration // 0: any number
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

// Address sets the address to listen on; default: a free port of 127.0.0.1.
func Address(address string) Option { return func(o *settings) { o.address = address } }

// Scopes sets the scopes of the bot token; default: AllScopes.
func Scopes(scopes ...string) Option { return func(o *settings) { o.granted = scopes } }

// AckTimeout sets how long the app has to acknowledge; default: Slack's 3 s.
func AckTimeout(d time.Duration) Option { return func(o *settings) { o.ackTimeout = d } }

// RetryDelays sets the pauses between deliveries of an event; default: 10, 100 and
// 500 ms. (Slack's are: none, 1 minute, 5 minutes.)
func RetryDelays(delays ...time.Duration) Option {
	return func(o *settings) { o.retryDelays = delays }
}

// PingInterval sets the interval of pings on Socket Mode connections; default: 5 s.
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

// WithoutEcho suppresses the events that the app's own actions cause. Slack sends them.
func WithoutEcho() Option { return func(o *settings) { o.silent = true } }

// PostEvery refuses messages that follow another one in their channel more quickly, as Slack
// does after a short burst: it allows one a second.
func PostEvery(d time.Duration) Option { return func(o *settings) { o.postEvery = d } }

// SetScopes changes the bot token's scopes, as reinstalling the app does.
func (s *Server) SetScopes(scopes ...string) {
	defer s.act()()
	s.scopes = scopes
}
