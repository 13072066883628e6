// Package feishu is the channel for Feishu and Lark, which are one platform with two
// domains. It receives over the platform's long connection or a webhook, and answers with
// cards.
//
// A conversation is a group, a topic of a group, or the direct chat with a person. A direct
// chat is named by the person's open ID, so that it can be written to before anything was
// received from it; a topic by the message that began it. Accepting a message calls nothing
// at the platform, so it can be acknowledged within three seconds.
package feishu

import (
	"errors"
	"log/slog"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Channel is a connection to Feishu or Lark as one app: a [channels.Receiver],
// [channels.Sender], [channels.Keyed], [channels.Finder], [channels.Splitter],
// [channels.RecipientResolver], [channels.Locator], [channels.Enricher] and
// [channels.Stored]. Safe for
// concurrent use; only Run is for one caller at a time.
type Channel struct {
	*platform
	*chat.Channel
}

// New returns a channel. It calls nothing yet.
func New(o Options) (*Channel, error) {
	switch {
	case o.AppID == "" || o.AppSecret == "":
		return nil, errors.New("channels.feishu.app_id and channels.feishu.app_secret are not set")
	case o.Mode == ModeWebhook && o.EncryptKey == "" && o.VerificationToken == "":
		return nil, errors.New("channels.feishu.encrypt_key or channels.feishu.verification_token is needed to tell the platform's requests from others")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := newPlatform(o)
	return &Channel{platform: p, Channel: chat.New(p, chat.Options{
		ReceiverOptions: chat.ReceiverOptions{
			Access:  chat.Access{Users: o.AllowUsers, Chats: o.AllowGroups, Bots: o.AllowBots},
			Respond: o.Respond, CommandPrefix: "/", Logger: o.Logger,
		},
		FileLimit: o.FileLimit, Drafts: o.Stream,
	})}, nil
}

// UseStore implements [channels.Stored].
func (c *Channel) UseStore(s channels.Store) { c.store = s }
