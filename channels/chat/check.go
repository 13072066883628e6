package chat

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Checker is a [Platform] that checks its set-up for `holdfast doctor`: whether the token
// works and whose it is, permissions, what is deprecated.
type Checker interface {
	// Check makes calls that change nothing, and takes no messages from a process that
	// receives with the same account. Each call has a time limit.
	Check(ctx context.Context) []Finding
}

// Hooked is a [Platform] that may connect to us.
type Hooked interface {
	// Hook returns the server that it delivers to; nil if it is configured to be asked.
	Hook() *Webhook
}

// Level says how serious a [Finding] is.
type Level string

// The levels. A warning is something that works but may surprise.
const (
	LevelOK   Level = "ok"
	LevelWarn Level = "warn"
	LevelFail Level = "fail"
)

// Finding is the outcome of one check. It contains no secrets.
type Finding struct {
	Level Level
	Text  string // one line
	Fix   string // what the operator can do; empty for [LevelOK]
}

// Passed returns a finding that all is well.
func Passed(format string, args ...any) Finding {
	return Finding{Level: LevelOK, Text: fmt.Sprintf(format, args...)}
}

// Warned returns a finding of something that works but may surprise.
func Warned(fix, format string, args ...any) Finding {
	return Finding{Level: LevelWarn, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// Failed returns a finding of something that does not work.
func Failed(fix, format string, args ...any) Finding {
	return Finding{Level: LevelFail, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// CheckSetup checks the platform's set-up, by [Checker] or by identifying with it, and
// reports who is answered.
func (c *Channel) CheckSetup(ctx context.Context) []Finding {
	if checker, ok := c.platform.(Checker); ok {
		return append(checker.Check(ctx), c.audience())
	}
	self, err := c.platform.Identify(ctx)
	if err != nil {
		return []Finding{Failed("check the settings channels."+c.platform.Name()+"; see docs/"+c.platform.Name()+".md", "%v", err), c.audience()}
	}
	return []Finding{Passed("connected as %s (%s)", cmp.Or(self.Name, self.ID), self.ID), c.audience()}
}

// Webhook returns the server that the platform delivers to; nil if it does not connect to us.
func (c *Channel) Webhook() *Webhook {
	if hooked, ok := c.platform.(Hooked); ok {
		return hooked.Hook()
	}
	return nil
}

// audience reports who may use the bot.
func (c *Channel) audience() Finding {
	const pair = "or let people send the bot a direct message, and allow them with the code in its reply: `holdfast pairing approve CODE`"
	words, setting := wordsOf(c.platform), "channels."+c.platform.Name()
	users, chats := c.access.Users, c.access.Chats
	switch {
	case len(users) == 0 && len(chats) == 0 && words.Group != "":
		return Warned(fmt.Sprintf(`set %s.allow_users and %s to IDs, or ["*"] for all: %s; %s; %s`, setting, words.allow(), words.FindPerson, words.FindGroup, pair),
			"only people allowed by pairing are answered, in direct messages: allow_users and %s are empty", words.allow())
	case len(users) == 0:
		return Warned(fmt.Sprintf(`set %s.allow_users to IDs, or ["*"] for everyone: %s; %s`, setting, words.FindPerson, pair),
			"only people allowed by pairing are answered: allow_users is empty")
	case words.Group == "":
		return Passed("answers %s", amount(users, "person", "people"))
	case len(chats) == 0:
		return Passed("answers %s, only in direct messages since %s is empty; %s", amount(users, "person", "people"), words.allow(), words.FindGroup)
	}
	return Passed("answers %s, in direct messages and in %s it is invited to", amount(users, "person", "people"), amount(chats, words.Group, words.Group+"s"))
}

// amount describes the size of a list.
func amount(list []string, one, many string) string {
	switch {
	case slices.Contains(list, channels.Anyone):
		return "all " + many
	case len(list) == 1:
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", len(list), many)
}

// Endpoint is the address of a platform's API, for findings about the network.
type Endpoint struct {
	Platform string // as people know it: "Slack"
	URL      string
	Setting  string // that changes URL, such as "channels.slack.api_url"
	Needs    string // of the firewall, such as "https to slack.com"
}

// Unreached returns the finding for a call that the platform itself did not answer.
func (e Endpoint) Unreached(err error) Finding {
	address, proxy := e.reachedAt()
	failed := remote.As(err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	switch {
	case authority:
		return Failed("if a proxy intentionally intercepts TLS, trust its certificate on this machine (SSL_CERT_FILE names a PEM file)",
			"%s presents a certificate that this machine does not trust%s: %v", address, proxy, err)
	case failed != nil && failed.Status != 0:
		return Failed("check the rules of the proxy or firewall; HTTPS_PROXY sets a proxy, NO_PROXY exceptions",
			"something between here and %s answers in its place%s: %v", address, proxy, err)
	}
	return Failed("check the network, name resolution, the firewall ("+e.Needs+"), the proxy (HTTPS_PROXY, NO_PROXY) and "+e.Setting,
		"%s does not answer like %s%s: %v", address, e.Platform, proxy, err)
}

// reachedAt returns the address without its password, and the proxy used, if any.
func (e Endpoint) reachedAt() (shown, proxy string) {
	u, err := url.Parse(e.URL)
	if err != nil {
		return e.Setting, ""
	}
	through, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	switch {
	case err != nil:
		proxy = " (HTTPS_PROXY is not a URL)"
	case through != nil:
		proxy = " (through the proxy " + through.Redacted() + ")"
	}
	return u.Redacted(), proxy
}
