package slack

import (
	"encoding/json"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// newWebhook returns the server to which Slack delivers in ModeHTTP.
func newWebhook(p *platform) *chat.Webhook {
	return &chat.Webhook{
		Name: Name, Title: "Slack", Listen: p.o.Listen, Path: p.o.Path, Logger: p.log,
		Verify: func(header http.Header, body []byte) error { return verify(header, p.o.SigningSecret, body) },
		Read: func(header http.Header, body []byte) (chat.Delivery, any, error) {
			kind, payload, err := unwrap(header.Get("Content-Type"), body)
			if err != nil {
				return nil, nil, err
			}
			return p.parse(kind, payload)
		},
		Reply: ephemeral,
	}
}

// Addr returns the address that [ModeHTTP] listens on; nil while it does not.
func (p *platform) Addr() net.Addr { return p.webhook.Addr() }

// verify checks that a request is Slack's and at most five minutes old. A repeated one
// passes: its message is recognized by its ID.
func verify(header http.Header, secret string, body []byte) error {
	verifier, err := slack.NewSecretsVerifier(header, secret)
	if err != nil {
		return fmt.Errorf("verify the signature: %w", err)
	}
	_, _ = verifier.Write(body) // a hash does not fail
	if err := verifier.Ensure(); err != nil {
		return fmt.Errorf("verify the signature: %w", err)
	}
	return nil
}

// unwrap returns the payload of a request, as Socket Mode has it.
func unwrap(contentType string, body []byte) (kind string, payload []byte, err error) {
	if media, _, _ := mime.ParseMediaType(contentType); media != "application/x-www-form-urlencoded" {
		return kindEvent, body, nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", nil, fmt.Errorf("%w: form: %w", chat.ErrMalformed, err)
	}
	switch {
	case form.Has("payload"):
		return kindInteraction, []byte(form.Get("payload")), nil
	case form.Has("command"):
		fields := make(map[string]string, len(form))
		for name := range form {
			fields[name] = form.Get(name)
		}
		payload, err = json.Marshal(fields)
		return kindCommand, payload, err
	case form.Has("ssl_check"):
		return "ssl_check", nil, nil
	}
	return "", nil, fmt.Errorf("%w: a form with neither payload nor command", chat.ErrMalformed)
}
