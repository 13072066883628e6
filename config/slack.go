package config

import (
	"strings"
)

// Values of Slack.Mode.
const (
	SlackSocket = "socket" // we connect to Slack
	SlackHTTP   = "http"   // Slack connects to us
)

// Slack are the settings of the Slack channel.
type Slack struct {
	Platform      `yaml:",squash"`
	Mode          string   `yaml:"mode"`
	BotToken      Secret   `yaml:"bot_token"`      // xoxb-…
	AppToken      Secret   `yaml:"app_token"`      // xapp-…; for SlackSocket
	SigningSecret Secret   `yaml:"signing_secret"` // for SlackHTTP
	Listen        string   `yaml:"listen"`         // host:port; for SlackHTTP
	Path          string   `yaml:"path"`           // of the URL for events, buttons and commands
	APIURL        string   `yaml:"api_url"`
	AllowChannels []string `yaml:"allow_channels"` // Slack IDs; "*" for all
	Reactions     []string `yaml:"reactions"`      // emoji, without colons, that ask the bot to deal with a message
	Feedback      bool     `yaml:"feedback"`       // thumbs below each reply
	AgentView     bool     `yaml:"agent_view"`     // the app has Slack's agent view
}

func defaultSlack() Slack {
	return Slack{
		Platform: defaultPlatform(), Mode: SlackSocket, Listen: "127.0.0.1:8091", Path: "/slack", APIURL: "https://slack.com/api/",
		AllowChannels: []string{}, Reactions: []string{},
	}
}

func (s *Slack) fillFrom(env map[string]string) {
	fill(&s.BotToken, env["SLACK_BOT_TOKEN"])
	fill(&s.AppToken, env["SLACK_APP_TOKEN"])
	fill(&s.SigningSecret, env["SLACK_SIGNING_SECRET"])
}

func (s *Slack) check(k *checker) {
	k.oneOf("channels.slack.mode", s.Mode, SlackSocket, SlackHTTP)
	k.platform("channels.slack", s.Platform, RespondMention, RespondThread, RespondAll)
	k.url("channels.slack.api_url", s.APIURL)
	k.when(!strings.HasPrefix(s.Path, "/"), "channels.slack.path", "must begin with a slash, such as /slack, not %q", s.Path)
	k.prefix("channels.slack.bot_token", s.BotToken, "xoxb-", "the Bot User OAuth Token")
	k.prefix("channels.slack.app_token", s.AppToken, "xapp-", "the app-level token")
	k.ids("channels.slack.allow_users", s.AllowUsers, "*", "UWS", "U012ABC")
	k.ids("channels.slack.allow_channels", s.AllowChannels, "*", "CGD", "C012ABC")
	k.ids("channels.slack.allow_bots", s.AllowBots, "", "BAUW", "B012ABC")
	for _, emoji := range s.Reactions {
		k.when(emoji == "" || strings.ContainsAny(emoji, ": "), "channels.slack.reactions", "must be names of emoji without colons, such as robot_face, not %q", emoji)
	}
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
