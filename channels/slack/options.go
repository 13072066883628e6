package slack

import "log/slog"

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
	RespondIn     map[string]string // by channel in lower case, where it is another
	Reactions     []string          // emoji that ask us to deal with a message
	Stream        bool
	Feedback      bool  // replies can be rated
	AgentView     bool  // the app has Slack's agent view: each message of a direct chat opens a thread
	FileLimit     int64 // bytes of an attached file
	Logger        *slog.Logger
}
