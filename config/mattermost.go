package config

import (
	"regexp"
	"strings"
)

// Mattermost are the settings of the Mattermost channel.
type Mattermost struct {
	Platform      `yaml:",squash"`
	URL           string   `yaml:"url"`          // of the server
	Token         Secret   `yaml:"token"`        // of the bot account
	CallbackURL   string   `yaml:"callback_url"` // where the server reaches Listen and Path; empty: approvals have no buttons
	Listen        string   `yaml:"listen"`       // host:port; for CallbackURL
	Path          string   `yaml:"path"`         // for CallbackURL
	AllowChannels []string `yaml:"allow_channels"`
}

func defaultMattermost() Mattermost {
	return Mattermost{Platform: defaultPlatform(), Listen: "127.0.0.1:8099", Path: "/mattermost", AllowChannels: []string{}}
}

func (m *Mattermost) fillFrom(env map[string]string) {
	fill(&m.URL, env["MATTERMOST_URL"])
	fill(&m.Token, env["MATTERMOST_TOKEN"])
}

var (
	mattermostID    = regexp.MustCompile(`^[a-z0-9]{26}$`)
	mattermostAnyID = regexp.MustCompile(`^(\*|[a-z0-9]{26})$`)
)

func (m *Mattermost) check(k *checker) {
	k.platform("channels.mattermost", m.Platform, RespondMention, RespondThread, RespondAll)
	k.url("channels.mattermost.url", m.URL)
	k.url("channels.mattermost.callback_url", m.CallbackURL)
	k.when(strings.ContainsAny(m.Token.Reveal(), " \t\r\n"), "channels.mattermost.token", "must be the bot's token alone, without Bearer before it")
	k.when(!strings.HasPrefix(m.Path, "/"), "channels.mattermost.path", "must begin with a slash, such as /mattermost, not %q", m.Path)
	k.matching("channels.mattermost.allow_users", m.AllowUsers, mattermostAnyID, `the IDs of people, of 26 letters and digits (not names, which change), or "*" for the members of the bot's teams`)
	k.matching("channels.mattermost.allow_channels", m.AllowChannels, mattermostAnyID, `the IDs of channels, of 26 letters and digits, or "*" for all`)
	k.matching("channels.mattermost.allow_bots", m.AllowBots, mattermostID, "the IDs of bots, of 26 letters and digits")
	if !m.Enabled {
		return
	}
	k.when(m.URL == "", "channels.mattermost.url", "must be set to the address of the server, such as https://chat.example.com, here or as MATTERMOST_URL; see docs/mattermost.md")
	k.when(m.Token == "", "channels.mattermost.token", "must be set, here or as MATTERMOST_TOKEN; see docs/mattermost.md")
	if m.CallbackURL != "" {
		k.hostPort("channels.mattermost.listen", m.Listen, "127.0.0.1:8099")
	}
}
