package node

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/dingtalk"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/email"
	"github.com/holdfast-ai/holdfast/channels/feishu"
	"github.com/holdfast-ai/holdfast/channels/matrix"
	"github.com/holdfast-ai/holdfast/channels/mattermost"
	"github.com/holdfast-ai/holdfast/channels/qq"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/telegram"
	"github.com/holdfast-ai/holdfast/channels/webhook"
	"github.com/holdfast-ai/holdfast/channels/wechat"
	"github.com/holdfast-ai/holdfast/channels/whatsapp"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/build"
)

// Platform is a chat platform that the config can enable.
type Platform struct {
	Name    string
	Enabled bool
	// Credential describes the token or password that is set: "a bot token"; empty: none is.
	Credential string

	isDirect func(chat string) bool
	open     func(*slog.Logger) (PushChannel, error)
}

// Open opens the platform. It calls nothing yet.
func (p Platform) Open(log *slog.Logger) (PushChannel, error) {
	channel, err := p.open(log.With("channel", p.Name))
	if err != nil {
		return nil, fmt.Errorf("open the channel %s: %w", p.Name, err)
	}
	return channel, nil
}

// Platforms returns all chat platforms, by their names.
func Platforms(c config.Channels) []Platform {
	return []Platform{
		{
			slack.Name, c.Slack.Enabled, credential("a bot token", c.Slack.BotToken), slack.IsDirect,
			func(log *slog.Logger) (PushChannel, error) {
				options := SlackOptions(c.Slack, log)
				options.RespondIn = c.RespondIn(slack.Name)
				return slack.New(options)
			},
		},
		{
			telegram.Name, c.Telegram.Enabled, credential("a token", c.Telegram.Token), telegram.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return telegram.New(telegramOptions(c.Telegram, log)) },
		},
		{
			discord.Name, c.Discord.Enabled, credential("a token", c.Discord.Token), discord.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return discord.New(discordOptions(c.Discord, log)) },
		},
		{
			wechat.Name, c.WeChat.Enabled, "", wechat.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return OpenWeChat(c.WeChat, log), nil },
		},
		{
			feishu.Name, c.Feishu.Enabled, credential("an app secret", c.Feishu.AppSecret), feishu.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return feishu.New(feishuOptions(c.Feishu, log)) },
		},
		{
			dingtalk.Name, c.DingTalk.Enabled, credential("a client secret", c.DingTalk.ClientSecret), dingtalk.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return dingtalk.New(dingtalkOptions(c.DingTalk, log)) },
		},
		{
			matrix.Name, c.Matrix.Enabled, credential("an access token", c.Matrix.AccessToken), matrix.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return matrix.New(matrixOptions(c.Matrix, log)) },
		},
		{
			qq.Name, c.QQ.Enabled, credential("a secret", c.QQ.Secret), qq.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return qq.New(qqOptions(c.QQ, log)) },
		},
		{
			whatsapp.Name, c.WhatsApp.Enabled, credential("an access token", c.WhatsApp.AccessToken), whatsapp.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return whatsapp.New(whatsAppOptions(c.WhatsApp, log)) },
		},
		{
			mattermost.Name, c.Mattermost.Enabled, credential("a token", c.Mattermost.Token), mattermost.IsDirect,
			func(log *slog.Logger) (PushChannel, error) {
				return mattermost.New(mattermostOptions(c.Mattermost, log))
			},
		},
		{
			email.Name, c.Email.Enabled, credential("a password", c.Email.Password), email.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return email.New(emailOptions(c.Email, log)) },
		},
		{
			webhook.Name, c.Webhook.Enabled, "", webhook.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return webhook.New(webhookOptions(c.Webhook, log)) },
		},
	}
}

// platform returns the chat platform with a name.
func platform(c config.Channels, name string) (p Platform, known bool) {
	for _, p := range Platforms(c) {
		if p.Name == name {
			return p, true
		}
	}
	return Platform{}, false
}

// credential returns what a secret is called, if it is set.
func credential(name string, secret config.Secret) string {
	if secret == "" {
		return ""
	}
	return name
}

// OpenChannel opens an enabled push channel.
func OpenChannel(c config.Channels, name string, log *slog.Logger) (PushChannel, error) {
	p, known := platform(c, name)
	switch {
	case !known:
		var names []string
		for _, p := range Platforms(c) {
			names = append(names, p.Name)
		}
		return nil, fmt.Errorf("cannot send to %q: --channel must be %s", name, strings.Join(names, " or "))
	case !p.Enabled:
		return nil, fmt.Errorf("cannot send to %q: it is disabled (channels.%[2]s.enabled); see docs/%[2]s.md", name, name)
	}
	return p.Open(log)
}

// openChannels opens the enabled push channels. A private process has none: it serves
// one chat.
func (n *Node) openChannels() error {
	n.push = maps.Clone(n.roles.Push)
	if n.push == nil {
		n.push = map[string]PushChannel{}
	}
	if n.roles.Private {
		return nil
	}
	for _, p := range Platforms(n.Config.Channels) {
		if !p.Enabled {
			continue
		}
		channel, err := p.Open(n.log)
		if err != nil {
			return err
		}
		n.push[p.Name] = channel
	}
	return nil
}

// chatOptions returns the options that all chat platforms have. chats are the chats with
// several people that are answered.
func chatOptions(p config.Platform, chats []string, log *slog.Logger) chat.Options {
	return chat.Options{
		ReceiverOptions: chat.ReceiverOptions{
			Access: chat.Access{Users: p.AllowUsers, Chats: chats, Bots: p.AllowBots}, Respond: p.Respond, Logger: log,
		},
		FileLimit: int64(p.MaxFileMB) << 20, Drafts: p.Stream,
	}
}

// SlackOptions returns the options of the Slack channel.
func SlackOptions(c config.Slack, log *slog.Logger) slack.Options {
	common := chatOptions(c.Platform, c.AllowChannels, log)
	return slack.Options{
		Mode: c.Mode, BotToken: c.BotToken.Reveal(), AppToken: c.AppToken.Reveal(), SigningSecret: c.SigningSecret.Reveal(),
		Listen: c.Listen, Path: c.Path, APIURL: c.APIURL,
		AllowUsers: common.Users, AllowChannels: common.Chats, AllowBots: common.Bots,
		Respond: common.Respond, Reactions: c.Reactions, Feedback: c.Feedback, AgentView: c.AgentView,
		Stream: common.Drafts, FileLimit: common.FileLimit, Logger: common.Logger,
	}
}

func feishuOptions(c config.Feishu, log *slog.Logger) feishu.Options {
	common := chatOptions(c.Platform, c.AllowGroups, log)
	return feishu.Options{
		Mode: c.Mode, Domain: c.Domain, APIURL: c.APIURL, AppID: c.AppID, AppSecret: c.AppSecret.Reveal(),
		EncryptKey: c.EncryptKey.Reveal(), VerificationToken: c.VerificationToken.Reveal(), Listen: c.Listen, Path: c.Path,
		AllowUsers: common.Users, AllowGroups: common.Chats, AllowBots: common.Bots,
		Respond: common.Respond, Topics: c.Topics, Stream: common.Drafts, FileLimit: common.FileLimit, Logger: common.Logger,
	}
}

func telegramOptions(c config.Telegram, log *slog.Logger) telegram.Options {
	return telegram.Options{
		Mode: c.Mode, Token: c.Token.Reveal(), WebhookURL: c.WebhookURL, WebhookSecret: c.WebhookSecret.Reveal(),
		Listen: c.Listen, Path: c.Path, APIURL: c.APIURL, Options: chatOptions(c.Platform, c.AllowGroups, log),
	}
}

func discordOptions(c config.Discord, log *slog.Logger) discord.Options {
	return discord.Options{
		Token: c.Token.Reveal(), APIURL: c.APIURL, Reactions: c.Reactions, Options: chatOptions(c.Platform, c.AllowChannels, log),
	}
}

func mattermostOptions(c config.Mattermost, log *slog.Logger) mattermost.Options {
	return mattermost.Options{
		URL: c.URL, Token: c.Token.Reveal(), CallbackURL: c.CallbackURL, Listen: c.Listen, Path: c.Path,
		Options: chatOptions(c.Platform, c.AllowChannels, log),
	}
}

// qqOptions returns the options of the QQ channel.
func qqOptions(c config.QQ, log *slog.Logger) qq.Options {
	common := config.Platform{AllowUsers: c.AllowUsers, MaxFileMB: c.MaxFileMB}
	return qq.Options{
		Options: chatOptions(common, c.AllowGroups, log), Mode: c.Mode, AppID: c.AppID, Secret: c.Secret.Reveal(),
		Listen: c.Listen, Path: c.Path, APIURL: c.APIURL, TokenURL: c.TokenURL,
		Markdown: c.Markdown, TextLimit: c.TextLimit, NoticeAfter: c.NoticeAfter,
	}
}

// emailOptions returns the options of the e-mail channel.
func emailOptions(c config.Email, log *slog.Logger) email.Options {
	return email.Options{
		Address: c.Address, Name: c.Name, Username: c.Username, Password: c.Password.Reveal(),
		IMAP: email.Server{Address: c.IMAP, Security: c.IMAPSecurity}, SMTP: email.Server{Address: c.SMTP, Security: c.SMTPSecurity},
		Mailbox: c.Mailbox, Sent: c.Sent, AllowUsers: c.AllowUsers, AuthservID: c.AuthservID, TrustSender: c.TrustSender,
		Pairing: c.Pairing, BlindCopy: c.BlindCopy, MarkSeen: c.MarkSeen, HourlyLimit: c.HourlyLimit, Poll: c.Poll,
		FileLimit: int64(c.MaxFileMB) << 20, Logger: log,
	}
}

// webhookOptions returns the options of the channel that pushes replies to programs.
func webhookOptions(c config.Webhook, log *slog.Logger) webhook.Options {
	o := webhook.Options{Endpoints: map[string]webhook.Endpoint{}, KeyLasts: c.KeyLasts, Timeout: c.Timeout, Logger: log}
	for name, e := range c.Endpoints {
		o.Endpoints[name] = webhook.Endpoint{URL: e.URL, Secret: e.Secret.Reveal(), OldSecret: e.OldSecret.Reveal(), Private: e.Private}
	}
	return o
}

// OpenWeChat returns the WeChat channel, without its store.
func OpenWeChat(c config.WeChat, log *slog.Logger) *wechat.Channel {
	return wechat.New(wechat.Options{
		APIURL: c.APIURL, CDNURL: c.CDNURL, AllowUsers: c.AllowUsers, Window: c.Window, Replies: c.Replies, Pause: c.Pause,
		FileLimit: int64(c.MaxFileMB) << 20, Version: build.Version, Logger: log,
	})
}

// dingtalkOptions returns the options of the DingTalk channel.
func dingtalkOptions(c config.DingTalk, log *slog.Logger) dingtalk.Options {
	return dingtalk.Options{
		Options: chatOptions(c.Platform, c.AllowGroups, log), ClientID: c.ClientID, ClientSecret: c.ClientSecret.Reveal(), RobotCode: c.RobotCode,
		CardTemplate: c.CardTemplate, CardKey: c.CardKey, APIURL: c.APIURL, UploadURL: c.UploadURL,
	}
}

// matrixOptions returns the options of the Matrix channel.
func matrixOptions(c config.Matrix, log *slog.Logger) matrix.Options {
	return matrix.Options{
		Options: chatOptions(c.Platform, c.AllowRooms, log), Homeserver: c.Homeserver, AccessToken: c.AccessToken.Reveal(),
	}
}

// storeChannels gives the push channels that need it the store.
func (n *Node) storeChannels(context.Context) error {
	for _, channel := range n.push {
		if stored, ok := channel.(channels.Stored); ok {
			stored.UseStore(n.Store)
		}
	}
	return nil
}

// pages returns the pages by which the operator can log in to a platform, by their paths.
func (n *Node) pages() map[string]http.Handler {
	pages := map[string]http.Handler{}
	for name, channel := range n.push {
		if platform, ok := channel.(interface{ LoginPage() http.Handler }); ok {
			pages["/v1/channels/"+name+"/login"] = platform.LoginPage()
		}
	}
	return pages
}

// enrichers returns the push channels that enrich their messages, by name.
func (n *Node) enrichers() map[string]channels.Enricher {
	enrichers := map[string]channels.Enricher{}
	for name, channel := range n.push {
		if enricher, ok := channel.(channels.Enricher); ok {
			enrichers[name] = enricher
		}
	}
	return enrichers
}
