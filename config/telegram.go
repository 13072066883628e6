package config

import (
	"regexp"
	"strings"
)

// Values of Telegram.Mode.
const (
	TelegramPolling = "polling" // we ask Telegram
	TelegramWebhook = "webhook" // Telegram connects to us
)

// Telegram are the settings of the Telegram channel.
type Telegram struct {
	Platform      `yaml:",squash"`
	Mode          string   `yaml:"mode"`
	Token         Secret   `yaml:"token"`          // of the bot: 123456789:…
	WebhookURL    string   `yaml:"webhook_url"`    // for TelegramWebhook: where Telegram reaches Listen and Path
	WebhookSecret Secret   `yaml:"webhook_secret"` // for TelegramWebhook; empty: derived from Token
	Listen        string   `yaml:"listen"`         // host:port; for TelegramWebhook
	Path          string   `yaml:"path"`           // for TelegramWebhook
	APIURL        string   `yaml:"api_url"`
	AllowGroups   []string `yaml:"allow_groups"` // Telegram's IDs; "*" for all
}

func defaultTelegram() Telegram {
	return Telegram{
		Platform: defaultPlatform(), Mode: TelegramPolling, Listen: "127.0.0.1:8092", Path: "/telegram", APIURL: "https://api.telegram.org",
		AllowGroups: []string{},
	}
}

func (t *Telegram) fillFrom(env map[string]string) {
	fill(&t.Token, env["TELEGRAM_BOT_TOKEN"])
	fill(&t.WebhookSecret, env["TELEGRAM_WEBHOOK_SECRET"])
}

var (
	telegramToken  = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)
	telegramSecret = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	telegramUser   = regexp.MustCompile(`^(\*|[0-9]{1,18})$`)
	telegramGroup  = regexp.MustCompile(`^(\*|-[0-9]{1,18})$`)
	telegramBot    = regexp.MustCompile(`^[0-9]{1,18}$`)
)

func (t *Telegram) check(k *checker) {
	k.oneOf("channels.telegram.mode", t.Mode, TelegramPolling, TelegramWebhook)
	k.platform("channels.telegram", t.Platform, RespondMention, RespondThread, RespondAll)
	k.url("channels.telegram.api_url", t.APIURL)
	k.url("channels.telegram.webhook_url", t.WebhookURL)
	k.when(!strings.HasPrefix(t.Path, "/"), "channels.telegram.path", "must begin with a slash, such as /telegram, not %q", t.Path)
	k.when(t.Token != "" && !telegramToken.MatchString(t.Token.Reveal()), "channels.telegram.token", "must be the bot's token, such as 123456789:AAE…")
	k.when(t.WebhookSecret != "" && (len(t.WebhookSecret) > 256 || !telegramSecret.MatchString(t.WebhookSecret.Reveal())),
		"channels.telegram.webhook_secret", "must have 1 to 256 letters, digits, - or _")
	k.matching("channels.telegram.allow_users", t.AllowUsers, telegramUser, `the IDs of people, such as 123456789 (not names, which change), or "*" for all`)
	k.matching("channels.telegram.allow_groups", t.AllowGroups, telegramGroup, `the IDs of groups, such as -1001234567890, or "*" for all`)
	k.matching("channels.telegram.allow_bots", t.AllowBots, telegramBot, "the IDs of bots, such as 123456789")
	if !t.Enabled {
		return
	}
	k.when(t.Token == "", "channels.telegram.token", "must be set, here or as TELEGRAM_BOT_TOKEN; see docs/telegram.md")
	if t.Mode == TelegramWebhook {
		k.when(t.WebhookURL == "", "channels.telegram.webhook_url", "must be set for mode: webhook, to the https URL at which Telegram reaches channels.telegram.listen")
		k.hostPort("channels.telegram.listen", t.Listen, "127.0.0.1:8092")
	}
}

// matching checks a list of IDs.
func (k *checker) matching(path string, ids []string, form *regexp.Regexp, want string) {
	for _, id := range ids {
		k.when(!form.MatchString(id), path, "has %q; must be "+want, id)
	}
}
