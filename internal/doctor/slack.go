package doctor

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// slackTimeout bounds a call to Slack.
	slackTimeout = 10 * time.Second
	// Where to find Slack's settings.
	botTokenAt  = "the app's settings at api.slack.com/apps, OAuth & Permissions, Bot User OAuth Token" //nolint:gosec // not a secret
	appTokenAt  = "the app's settings at api.slack.com/apps, Basic Information, App-Level Tokens"
	botTokenKey = "SLACK_BOT_TOKEN or channels.slack.bot_token"
	appTokenKey = "SLACK_APP_TOKEN or channels.slack.app_token"
)

// checkSlack checks the Slack channel and the app.
func (d *doctor) checkSlack(ctx context.Context) {
	settings := d.cfg.Channels.Slack
	if !settings.Enabled {
		if settings.BotToken != "" {
			d.ok("slack", "disabled (channels.slack.enabled), although a bot token is set")
		}
		return
	}
	channel, err := slack.New(node.SlackOptions(settings, discard()))
	if err != nil {
		d.fail("slack", "see docs/slack.md", "%v", err)
		return
	}
	self, err := slackIdentity(ctx, channel)
	if err != nil {
		d.slackFailed(err, "bot token", botTokenAt, botTokenKey)
	} else {
		d.ok("slack", "connected as @%s (%s) to the workspace %s (%s), mode %s", self.Name, self.UserID, self.Team, self.TeamID, settings.Mode)
		d.checkScopes(self.Scopes)
	}
	switch {
	case settings.Mode == slack.ModeHTTP:
		d.checkSlackListen(ctx)
	case err == nil || slack.ErrorCode(err) != "": // it answers
		d.checkSlackConnection(ctx, channel)
	}
	d.checkAllowed()
}

func slackIdentity(ctx context.Context, channel *slack.Channel) (slack.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, slackTimeout)
	defer cancel()
	return channel.Identify(ctx)
}

// checkSlackConnection requests a Socket Mode URL without connecting to it: a connection
// would receive events meant for the running process.
func (d *doctor) checkSlackConnection(ctx context.Context, channel *slack.Channel) {
	ctx, cancel := context.WithTimeout(ctx, slackTimeout)
	defer cancel()
	if err := channel.CheckConnection(ctx); err != nil {
		d.slackFailed(err, "app-level token", appTokenAt, appTokenKey)
		return
	}
	d.ok("slack", "Socket Mode is available")
}

// slackFailed reports why a call with a token failed.
func (d *doctor) slackFailed(err error, token, where, key string) {
	again := "copy it again (" + where + ") into " + key
	code, failed := slack.ErrorCode(err), remote.As(err)
	switch {
	case code == "invalid_auth", code == "not_authed":
		d.fail("slack", again, "unknown %s (%s)", token, code)
	case code == "token_revoked", code == "account_inactive":
		d.fail("slack", "reinstall the app (api.slack.com/apps, Install App), then "+again, "the %s was revoked, or the app was removed from the workspace (%s)", token, code)
	case code == "token_expired":
		d.fail("slack", "turn off token rotation in the app's settings, reinstall the app, then "+again, "the %s has expired (%s)", token, code)
	case code == "not_allowed_token_type":
		d.fail("slack", again, "wrong type of token (%s): the %s is needed", code, token)
	case code == "missing_scope":
		d.fail("slack", "create one with the scope connections:write ("+where+") and put it into "+key, "the %s lacks a scope (%s)", token, code)
	case failed != nil && failed.Status == http.StatusTooManyRequests:
		d.warn("slack", "wait and try again", "rate limited by Slack: %v", err)
	case code != "":
		d.fail("slack", "check "+where+"; an app-level token needs Socket Mode, and an administrator may have restricted the app", "Slack rejects the %s (%s)", token, code)
	default:
		d.slackAway(err)
	}
}

// slackAway reports why Slack does not answer.
func (d *doctor) slackAway(err error) {
	address, proxy := reachedAt(d.cfg.Channels.Slack.APIURL)
	failed := remote.As(err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	switch {
	case authority:
		d.fail("slack", "if a proxy intentionally intercepts TLS, trust its certificate on this machine (SSL_CERT_FILE names a PEM file)",
			"%s presents a certificate that this machine does not trust%s: %v", address, proxy, err)
	case failed != nil && failed.Status != 0:
		d.fail("slack", "check the rules of the proxy or firewall; HTTPS_PROXY sets a proxy, NO_PROXY exceptions",
			"something between here and %s answers in its place%s: %v", address, proxy, err)
	default:
		d.fail("slack", "check the network, name resolution, the firewall (https to slack.com, wss to *.slack.com), the proxy (HTTPS_PROXY, NO_PROXY) and channels.slack.api_url",
			"%s does not answer like Slack%s: %v", address, proxy, err)
	}
}

// reachedAt returns an address without its password, and the proxy used, if any.
func reachedAt(address string) (shown, proxy string) {
	u, err := url.Parse(address)
	if err != nil {
		return "channels.slack.api_url", ""
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

// checkScopes compares the scopes that were granted with those needed: Slack can
// install an app with fewer than its manifest asks for.
func (d *doctor) checkScopes(has []string) {
	if len(has) == 0 {
		d.warn("slack", "check whether a proxy drops the header X-OAuth-Scopes", "Slack does not say which scopes the app has")
		return
	}
	report := d.warn
	var missing []string
	for _, scope := range slack.Scopes {
		if slices.Contains(has, scope.Name) {
			continue
		}
		missing = append(missing, scope.Name+" ("+scope.Why+")")
		if scope.Name == "chat:write" {
			report = d.fail
		}
	}
	if missing == nil {
		d.ok("slack", "the app has all %d scopes", len(slack.Scopes))
		return
	}
	report("slack", "paste the output of `holdfast slack manifest` into the app's settings (api.slack.com/apps, App Manifest), save it, and install the app again (Install App)",
		"the app lacks %d of %d scopes: %s", len(missing), len(slack.Scopes), strings.Join(missing, "; "))
}

// checkSlackListen checks the local end of Slack's HTTP requests.
func (d *doctor) checkSlackListen(ctx context.Context) {
	settings := d.cfg.Channels.Slack
	err := free(ctx, settings.Listen)
	switch {
	case err == nil && d.running.PID != 0:
		d.warn("slack", "restart it if the settings have changed", "process %d is running but does not listen on %s (channels.slack.listen)", d.running.PID, settings.Listen)
	case err == nil:
		d.ok("slack", "%s is free to listen on, path %s for Slack's requests", settings.Listen, settings.Path)
	case slackAnswers(ctx, settings.Listen, settings.Path):
		d.ok("slack", "holdfast answers at %s, path %s", settings.Listen, settings.Path)
	default:
		d.fail("slack", "stop the program that uses it, or set channels.slack.listen to another address", "it cannot listen on %s: %v", settings.Listen, err)
	}
}

// slackAnswers reports whether holdfast serves Slack's requests there.
func slackAnswers(ctx context.Context, listen, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	address := node.ListenURL(listen) + "/" + strings.Trim(path, "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/health", http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// checkAllowed reports who may use the bot.
func (d *doctor) checkAllowed() {
	const (
		findUser    = "find a user ID in the Slack profile, under ⋮, Copy member ID"
		findChannel = "click a channel's name to find its ID at the bottom of the dialog"
		pair        = "or let people send the bot a direct message, and allow them with the code in its reply: `holdfast pairing approve CODE`"
	)
	settings := d.cfg.Channels.Slack
	users, all := settings.AllowUsers, settings.AllowChannels
	switch {
	case len(users) == 0 && len(all) == 0:
		d.warn("slack", `set channels.slack.allow_users and allow_channels to IDs, or ["*"] for all: `+findUser+"; "+findChannel+"; "+pair,
			"only people allowed by pairing are answered, in direct messages: allow_users and allow_channels are empty")
	case len(users) == 0:
		d.warn("slack", `set channels.slack.allow_users to IDs, or ["*"] for everyone: `+findUser+"; "+pair,
			"only people allowed by pairing are answered: allow_users is empty")
	case len(all) == 0:
		d.ok("slack", "answers %s, only in direct messages since allow_channels is empty; %s", amount(users, "person", "people"), findChannel)
	default:
		d.ok("slack", "answers %s, in direct messages and in %s it is invited to", amount(users, "person", "people"), amount(all, "channel", "channels"))
	}
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
