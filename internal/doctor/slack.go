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
	// slackPatience is how long Slack has to answer.
	slackPatience = 10 * time.Second
	// Where Slack's settings are.
	botTokenAt  = "the app's settings at api.slack.com/apps, OAuth & Permissions, Bot User OAuth Token" //nolint:gosec // where it is, not what
	appTokenAt  = "the app's settings at api.slack.com/apps, Basic Information, App-Level Tokens"
	botTokenKey = "SLACK_BOT_TOKEN or channels.slack.bot_token"
	appTokenKey = "SLACK_APP_TOKEN or channels.slack.app_token"
)

// checkSlack looks at the Slack channel, and asks Slack about the app.
func (d *doctor) checkSlack(ctx context.Context) {
	settings := d.cfg.Channels.Slack
	if !settings.Enabled {
		if settings.BotToken != "" {
			d.ok("slack", "is off (channels.slack.enabled), and has a bot token")
		}
		return
	}
	channel, err := slack.New(node.SlackOptions(settings, discard()))
	if err != nil {
		d.fail("slack", "docs/slack.md has the steps", "%v", err)
		return
	}
	self, err := slackIdentity(ctx, channel)
	if err != nil {
		d.slackFailed(err, "bot token", botTokenAt, botTokenKey)
	} else {
		d.ok("slack", "answers as @%s (%s) in the workspace %s (%s), mode %s", self.Name, self.UserID, self.Team, self.TeamID, settings.Mode)
		d.checkScopes(self.Scopes)
	}
	switch {
	case settings.Mode == slack.ModeHTTP:
		d.checkSlackListen(ctx)
	case err == nil || slack.ErrorCode(err) != "": // it is not away
		d.checkSlackConnection(ctx, channel)
	}
	d.checkAllowed()
}

func slackIdentity(ctx context.Context, channel *slack.Channel) (slack.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, slackPatience)
	defer cancel()
	return channel.Identify(ctx)
}

// checkSlackConnection asks for a connection of Socket Mode without opening it: it
// would be given what another process is waiting for.
func (d *doctor) checkSlackConnection(ctx context.Context, channel *slack.Channel) {
	ctx, cancel := context.WithTimeout(ctx, slackPatience)
	defer cancel()
	if err := channel.CheckConnection(ctx); err != nil {
		d.slackFailed(err, "app-level token", appTokenAt, appTokenKey)
		return
	}
	d.ok("slack", "would open a connection (Socket Mode)")
}

// slackFailed says why a call to Slack failed that was made with a token.
func (d *doctor) slackFailed(err error, token, where, key string) {
	again := "copy it again (" + where + ") into " + key
	code, failed := slack.ErrorCode(err), remote.As(err)
	switch {
	case code == "invalid_auth", code == "not_authed":
		d.fail("slack", again, "Slack does not know the %s (%s)", token, code)
	case code == "token_revoked", code == "account_inactive":
		d.fail("slack", "install the app again (api.slack.com/apps, Install App), then "+again, "the %s was revoked, or the app was removed from the workspace (%s)", token, code)
	case code == "token_expired":
		d.fail("slack", "turn token rotation off in the app's settings, install the app again, then "+again, "the %s has expired (%s)", token, code)
	case code == "not_allowed_token_type":
		d.fail("slack", again, "that is a token of another kind (%s): the %s is wanted", code, token)
	case code == "missing_scope":
		d.fail("slack", "make another with the scope connections:write ("+where+"), and put it into "+key, "the %s lacks a scope (%s)", token, code)
	case failed != nil && failed.Status == http.StatusTooManyRequests:
		d.warn("slack", "wait, and try again", "Slack was asked too often: %v", err)
	case code != "":
		d.fail("slack", "look at "+where+"; Socket Mode has to be on for an app-level token, and an administrator may have restricted the app", "Slack refuses the %s (%s)", token, code)
	default:
		d.slackAway(err)
	}
}

// slackAway says why Slack does not answer.
func (d *doctor) slackAway(err error) {
	address, proxy := reachedAt(d.cfg.Channels.Slack.APIURL)
	failed := remote.As(err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	switch {
	case authority:
		d.fail("slack", "if a proxy reads along by intent, have this machine trust its certificate (SSL_CERT_FILE names a PEM file)",
			"somebody answers for %s with a certificate that this machine does not trust%s: %v", address, proxy, err)
	case failed != nil && failed.Status != 0:
		d.fail("slack", "see what the proxy or firewall lets through; HTTPS_PROXY names a proxy, NO_PROXY what goes around it",
			"something on the way to %s answers in its place%s: %v", address, proxy, err)
	default:
		d.fail("slack", "check the network, name resolution, the firewall (https to slack.com, wss to *.slack.com), the proxy (HTTPS_PROXY, NO_PROXY) and channels.slack.api_url",
			"%s does not answer as Slack does%s: %v", address, proxy, err)
	}
}

// reachedAt is an address without its password, and through which proxy it is asked;
// empty if through none.
func reachedAt(address string) (shown, proxy string) {
	u, err := url.Parse(address)
	if err != nil {
		return "channels.slack.api_url", ""
	}
	through, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	switch {
	case err != nil:
		proxy = " (and HTTPS_PROXY is no URL)"
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

// checkSlackListen looks whether Slack's requests can arrive, as far as that can be
// seen from here.
func (d *doctor) checkSlackListen(ctx context.Context) {
	settings := d.cfg.Channels.Slack
	err := free(ctx, settings.Listen)
	switch {
	case err == nil && d.running.PID != 0:
		d.warn("slack", "start it again, if the settings were changed since", "process %d runs, and does not listen on %s (channels.slack.listen)", d.running.PID, settings.Listen)
	case err == nil:
		d.ok("slack", "%s is free to listen on; Slack's requests are to arrive at its path %s", settings.Listen, settings.Path)
	case slackAnswers(ctx, settings.Listen, settings.Path):
		d.ok("slack", "a holdfast answers at %s, path %s", settings.Listen, settings.Path)
	default:
		d.fail("slack", "end the program that has it, or set channels.slack.listen to another", "it cannot listen on %s: %v", settings.Listen, err)
	}
}

// slackAnswers reports whether a holdfast takes Slack's requests there.
func slackAnswers(ctx context.Context, listen, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, apiPatience)
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

// checkAllowed looks who is answered.
func (d *doctor) checkAllowed() {
	const (
		findUser    = "a person's ID is in their profile in Slack, under ⋮, Copy member ID"
		findChannel = "a channel's ID is at the bottom of what opens when its name is clicked"
		pair        = "or have people send the bot a direct message, and let them in with the code that it answers with: `holdfast pairing approve CODE`"
	)
	settings := d.cfg.Channels.Slack
	users, all := settings.AllowUsers, settings.AllowChannels
	switch {
	case len(users) == 0 && len(all) == 0:
		d.warn("slack", `set channels.slack.allow_users and allow_channels to IDs, or ["*"] for all: `+findUser+"; "+findChannel+"; "+pair,
			"nobody is answered, but who was let in by pairing, in direct messages: allow_users and allow_channels are empty")
	case len(users) == 0:
		d.warn("slack", `set channels.slack.allow_users to IDs, or ["*"] for everybody: `+findUser+"; "+pair,
			"nobody is answered, but who was let in by pairing: allow_users is empty")
	case len(all) == 0:
		d.ok("slack", "answers %s in direct messages only, for allow_channels is empty; %s", amount(users, "person", "people"), findChannel)
	default:
		d.ok("slack", "answers %s, in direct messages and in %s that it is invited to", amount(users, "person", "people"), amount(all, "channel", "channels"))
	}
}

// amount is how many a list lets in.
func amount(list []string, one, many string) string {
	switch {
	case slices.Contains(list, channels.Anyone):
		return "all " + many
	case len(list) == 1:
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", len(list), many)
}
