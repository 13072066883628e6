package config

import (
	"regexp"
	"strings"
)

// Discord are the settings of the Discord channel.
type Discord struct {
	Platform      `yaml:",squash"`
	Token         Secret   `yaml:"token"` // of the bot
	APIURL        string   `yaml:"api_url"`
	AllowChannels []string `yaml:"allow_channels"` // Discord's IDs; "*" for all
	Reactions     bool     `yaml:"reactions"`      // in servers, mark messages as seen and answered
}

func defaultDiscord() Discord {
	return Discord{Platform: defaultPlatform(), APIURL: "https://discord.com/api/v10", AllowChannels: []string{}, Reactions: true}
}

func (d *Discord) fillFrom(env map[string]string) { fill(&d.Token, env["DISCORD_BOT_TOKEN"]) }

var (
	discordID    = regexp.MustCompile(`^[0-9]{15,20}$`)
	discordAnyID = regexp.MustCompile(`^(\*|[0-9]{15,20})$`)
)

func (d *Discord) check(k *checker) {
	k.platform("channels.discord", d.Platform, RespondMention, RespondThread, RespondAll)
	k.url("channels.discord.api_url", d.APIURL)
	k.when(strings.ContainsAny(d.Token.Reveal(), " \t\r\n"), "channels.discord.token", "must be the bot's token alone, without Bot before it")
	k.matching("channels.discord.allow_users", d.AllowUsers, discordAnyID, `the IDs of people, such as 123456789012345678 (not names, which change), or "*" for all`)
	k.matching("channels.discord.allow_channels", d.AllowChannels, discordAnyID, `the IDs of channels, such as 123456789012345678, or "*" for all`)
	k.matching("channels.discord.allow_bots", d.AllowBots, discordID, "the IDs of bots, such as 123456789012345678")
	k.when(d.Enabled && d.Token == "", "channels.discord.token", "must be set, here or as DISCORD_BOT_TOKEN; see docs/discord.md")
}
