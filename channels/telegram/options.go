package telegram

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Name is the channel's name.
const Name = "telegram"

// What Options.Mode may be.
const (
	ModePolling = "polling" // we ask Telegram
	ModeWebhook = "webhook" // Telegram connects to us: needs a public URL
)

// What Options.Respond may be: which messages in groups are answered. A topic is a group
// beside others rather than a thread, so it is not enough that we were asked there once.
const (
	RespondMention = chat.RespondMention // those that mention the bot, and commands
	RespondThread  = chat.RespondThread  // and replies to its messages
	RespondAll     = chat.RespondAll     // all
)

// DefaultAPI is the address of Telegram's own Bot API.
const DefaultAPI = "https://api.telegram.org"

// Options are the settings of the channel. See config.Telegram for what they mean.
type Options struct {
	Mode          string
	Token         string
	WebhookURL    string // of ModeWebhook: where Telegram reaches us, with the path
	WebhookSecret string // empty: derived from the token
	Listen        string // host:port of ModeWebhook
	Path          string // of ModeWebhook, such as /telegram
	APIURL        string // empty: DefaultAPI
	chat.Options
}

// apiURL returns the address of the Bot API, without a trailing slash.
func (o Options) apiURL() string { return strings.TrimRight(cmp.Or(o.APIURL, DefaultAPI), "/") }

// secret returns what Telegram sends with each request to the webhook.
func (o Options) secret() string {
	if o.WebhookSecret != "" {
		return o.WebhookSecret
	}
	sum := sha256.Sum256([]byte("holdfast webhook " + o.Token))
	return hex.EncodeToString(sum[:])
}
