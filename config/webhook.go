package config

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Webhook are the settings of the channel that pushes replies to programs.
type Webhook struct {
	Enabled   bool                       `yaml:"enabled"`
	Endpoints map[string]WebhookEndpoint `yaml:"endpoints"` // by name
	KeyLasts  time.Duration              `yaml:"key_lasts"` // how long programs remember keys
	Timeout   time.Duration              `yaml:"timeout"`   // of a request
}

// WebhookEndpoint is a program that gets replies.
type WebhookEndpoint struct {
	URL       string `yaml:"url"`
	Secret    Secret `yaml:"secret"`
	OldSecret Secret `yaml:"old_secret"` // requests are signed with it, too
	Private   bool   `yaml:"private"`    // its address need not be public
}

func defaultWebhook() Webhook {
	return Webhook{Endpoints: map[string]WebhookEndpoint{}, KeyLasts: day, Timeout: 10 * time.Second}
}

func (*Webhook) fillFrom(map[string]string) {}

func (w *Webhook) check(k *checker) {
	const at = "channels.webhook."
	k.when(w.KeyLasts < 0, at+"key_lasts", "must not be negative")
	k.when(w.Timeout <= 0, at+"timeout", "must be above 0, not %s", w.Timeout)
	for _, name := range slices.Sorted(maps.Keys(w.Endpoints)) {
		e, at := w.Endpoints[name], at+"endpoints."+name
		k.when(name == "" || strings.ContainsAny(name, spaces+"/:"), at, "must have a name without spaces, slashes and colons")
		k.url(at+".url", e.URL)
		u, err := url.Parse(e.URL)
		plain := err == nil && u.Scheme != "https" && !e.Private
		k.when(e.URL == "" || plain, at+".url", "must be an https URL; http is for endpoints with private: true")
		k.when(w.Enabled && len(e.Secret) < 24, at+".secret", "must be whsec_ and base64, or at least 24 characters")
	}
}
