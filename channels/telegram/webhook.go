package telegram

import (
	"context"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/url"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// secretHeader has the secret that Telegram was given with the address.
const secretHeader = "X-Telegram-Bot-Api-Secret-Token" //nolint:gosec // not a secret

var errSecret = errors.New("the secret token is missing or wrong")

// newWebhook returns the server to which Telegram delivers in ModeWebhook. Telegram delivers
// what is not answered with 200 again, and the next message of a chat only after it.
func newWebhook(p *platform) *chat.Webhook {
	secret := []byte(p.o.secret())
	return &chat.Webhook{
		Name: Name, Title: "Telegram", Listen: p.o.Listen, Path: p.o.Path, Logger: p.o.Logger,
		Verify: func(header http.Header, _ []byte) error {
			if subtle.ConstantTimeCompare([]byte(header.Get(secretHeader)), secret) != 1 {
				return errSecret
			}
			return nil
		},
		Read: func(_ http.Header, body []byte) (chat.Delivery, any, error) {
			_, d, err := p.parse(body)
			if method, a := answerClick(d); method != "" {
				return d, with(a, args{"method": method}), err // the answer may contain a call
			}
			return d, nil, err
		},
	}
}

// Addr returns the address that [ModeWebhook] listens on; nil while it does not.
func (p *platform) Addr() net.Addr { return p.webhook.Addr() }

// receiveWebhook tells Telegram where we are, and receives until ctx ends. The webhook stays
// set: Telegram keeps what is written meanwhile.
func (p *platform) receiveWebhook(ctx context.Context, in chat.Inbox) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- p.webhook.Serve(ctx, in) }()
	set := make(chan struct{})
	go func() {
		defer close(set)
		_ = chat.Retry(ctx, p.o.Logger, "setting the webhook", func(ctx context.Context) error { return lasting(p.setWebhook(ctx)) })
	}()
	err := <-served
	stop()
	<-set
	return err
}

func (p *platform) setWebhook(ctx context.Context) error {
	err := p.call(ctx, "setWebhook", args{
		"url": p.o.WebhookURL, "secret_token": p.o.secret(), "allowed_updates": updateKinds, "drop_pending_updates": false,
	}, nil)
	if err == nil {
		p.o.Logger.Info("webhook set", "url", webhookInfo{URL: p.o.WebhookURL}.shown())
	}
	return err
}

// webhookInfo is what Telegram says about a bot's webhook.
type webhookInfo struct {
	URL       string `json:"url"` // empty: none is set
	Pending   int    `json:"pending_update_count"`
	ErrorDate int64  `json:"last_error_date"` // seconds
	Error     string `json:"last_error_message"`
}

func (p *platform) webhookInfo(ctx context.Context) (info webhookInfo, err error) {
	err = p.call(ctx, "getWebhookInfo", nil, &info)
	return info, err
}

// shown is the address without what may be secret in it.
func (w webhookInfo) shown() string {
	u, err := url.Parse(w.URL)
	if err != nil {
		return "an address that is no URL"
	}
	return u.Scheme + "://" + u.Host
}
