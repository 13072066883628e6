package config

import (
	"strings"
)

// Values of Slack.Mode.
const (
	SlackSocket = "socket" // we connect to Slack
	SlackHTTP   = "http"   // Slack connects to us
)

// Values of Slack.Respond.
const (
	SlackMention = "mention" // messages that mention the bot
	SlackThread  = "thread"  // and all messages in threads that it takes part in
	SlackAll     = "all"     // all messages
)

// Slack are the settings of the Slack channel.
type Slack struct {
	Enabled       bool     `yaml:"enabled"`
	Mode          string   `yaml:"mode"`
	BotToken      Secret   `yaml:"bot_token"`      // xoxb-…
	AppToken      Secret   `yaml:"app_token"`      // xapp-…; for SlackSocket
	SigningSecret Secret   `yaml:"signing_secret"` // for SlackHTTP
	Listen        string   `yaml:"listen"`         // host:port; for SlackHTTP
	Path          string   `yaml:"path"`           // of the URL for events, buttons and commands
	APIURL        string   `yaml:"api_url"`
	AllowUsers    []string `yaml:"allow_users"`    // Slack IDs of people and user groups; "*" for the workspace's members
	AllowChannels []string `yaml:"allow_channels"` // Slack IDs; "*" for all
	AllowBots     []string `yaml:"allow_bots"`     // Slack IDs of bots or bot users
	Respond       string   `yaml:"respond"`
	Stream        bool     `yaml:"stream"`      // stream replies
	MaxFileMB     int      `yaml:"max_file_mb"` // of an attached file
}

func (k *checker) slack(s Slack) {
	k.oneOf("channels.slack.mode", s.Mode, SlackSocket, SlackHTTP)
	k.oneOf("channels.slack.respond", s.Respond, SlackMention, SlackThread, SlackAll)
	k.atLeastOne("channels.slack.max_file_mb", s.MaxFileMB)
	k.url("channels.slack.api_url", s.APIURL)
	k.when(!strings.HasPrefix(s.Path, "/"), "channels.slack.path", "must begin with a slash, such as /slack, not %q", s.Path)
	k.prefix("channels.slack.bot_token", s.BotToken, "xoxb-", "the Bot User OAuth Token")
	k.prefix("channels.slack.app_token", s.AppToken, "xapp-", "the app-level token")
	k.ids("channels.slack.allow_users", s.AllowUsers, "*", "UWS", "U012ABC")
	k.ids("channels.slack.allow_channels", s.AllowChannels, "*", "CGD", "C012ABC")
	k.ids("channels.slack.allow_bots", s.AllowBots, "", "BAUW", "B012ABC")
	if !s.Enabled {
		return
	}
	k.when(s.BotToken == "", "channels.slack.bot_token", "must be set, here or as SLACK_BOT_TOKEN; see docs/slack.md")
	switch s.Mode {
	case SlackSocket:
		k.when(s.AppToken == "", "channels.slack.app_token", "must be set for mode: socket, here or as SLACK_APP_TOKEN")
	case SlackHTTP:
		k.when(s.SigningSecret == "", "channels.slack.signing_secret", "must be set for mode: http, here or as SLACK_SIGNING_SECRET")
		k.hostPort("channels.slack.listen", s.Listen, "127.0.0.1:8091")
	}
}

// ids checks a list of Slack IDs, which begin with one of letters. If any is not empty,
// it is accepted as a wildcard.
func (k *checker) ids(path string, ids []string, any, letters, example string) {
	for _, id := range ids {
		if any != "" && id == any {
			continue
		}
		valid := len(id) > 1 && strings.ContainsRune(letters, rune(id[0])) &&
			strings.IndexFunc(id, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) < 0
		text := "has %q; must be Slack IDs, such as " + example
		if any != "" {
			text += `, or "*" for all`
		}
		k.when(!valid, path, text, id)
	}
}

// prefix checks a token, which may be empty. The error does not contain the token.
func (k *checker) prefix(path string, token Secret, prefix, name string) {
	k.when(token != "" && !strings.HasPrefix(token.Reveal(), prefix), path, "must be %s, which begins with %s", name, prefix)
}
