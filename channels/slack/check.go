package slack

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// checkTimeout bounds a call of a check.
const checkTimeout = 10 * time.Second

// credential is a token as the operator knows it.
type credential struct{ name, where, key string }

var (
	botToken = credential{"bot token", "the app's settings at api.slack.com/apps, OAuth & Permissions, Bot User OAuth Token", "SLACK_BOT_TOKEN or channels.slack.bot_token"}
	appToken = credential{"app-level token", "the app's settings at api.slack.com/apps, Basic Information, App-Level Tokens", "SLACK_APP_TOKEN or channels.slack.app_token"}
)

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	return chat.Words{
		Group:      "channel",
		FindPerson: "find a user ID in the Slack profile, under ⋮, Copy member ID",
		FindGroup:  "click a channel's name to find its ID at the bottom of the dialog",
	}
}

// Hook implements [chat.Hooked].
func (p *platform) Hook() *chat.Webhook {
	if p.o.Mode != ModeHTTP {
		return nil
	}
	return p.webhook
}

// Check implements [chat.Checker].
func (p *platform) Check(ctx context.Context) []chat.Finding {
	var findings []chat.Finding
	self, err := p.checkIdentity(ctx)
	if err != nil {
		findings = append(findings, p.rejected(err, botToken))
	} else {
		findings = append(findings, chat.Passed("connected as @%s (%s) to the workspace %s (%s), mode %s", self.Name, self.UserID, self.Team, self.TeamID, p.o.Mode),
			p.checkScopes(self.Scopes))
	}
	if p.o.Mode != ModeHTTP && (err == nil || code(err) != "") { // Slack answers
		findings = append(findings, p.checkConnection(ctx))
	}
	return findings
}

func (p *platform) checkIdentity(ctx context.Context) (Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return p.self(ctx)
}

// checkConnection requests a Socket Mode URL without connecting to it: a connection
// would receive events meant for the running process.
func (p *platform) checkConnection(ctx context.Context) chat.Finding {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err := p.call(ctx, "apps.connections.open", "", func(ctx context.Context) error {
		_, _, err := p.api.StartSocketModeContext(ctx)
		return err
	})
	if err != nil {
		return p.rejected(err, appToken)
	}
	return chat.Passed("Socket Mode is available")
}

// rejected returns why a call with a token failed.
func (p *platform) rejected(err error, token credential) chat.Finding {
	again := "copy it again (" + token.where + ") into " + token.key
	failed := remote.As(err)
	switch code := code(err); {
	case code == "invalid_auth", code == "not_authed":
		return chat.Failed(again, "unknown %s (%s)", token.name, code)
	case code == "token_revoked", code == "account_inactive":
		return chat.Failed("reinstall the app (api.slack.com/apps, Install App), then "+again,
			"the %s was revoked, or the app was removed from the workspace (%s)", token.name, code)
	case code == "token_expired":
		return chat.Failed("turn off token rotation in the app's settings, reinstall the app, then "+again, "the %s has expired (%s)", token.name, code)
	case code == "not_allowed_token_type":
		return chat.Failed(again, "wrong type of token (%s): the %s is needed", code, token.name)
	case code == "missing_scope":
		return chat.Failed("create one with the scope connections:write ("+token.where+") and put it into "+token.key, "the %s lacks a scope (%s)", token.name, code)
	case failed != nil && failed.Status == http.StatusTooManyRequests:
		return chat.Warned("wait and try again", "rate limited by Slack: %v", err)
	case code != "":
		return chat.Failed("check "+token.where+"; an app-level token needs Socket Mode, and an administrator may have restricted the app",
			"Slack rejects the %s (%s)", token.name, code)
	}
	return chat.Endpoint{
		Platform: "Slack", URL: p.o.apiURL(), Setting: "channels.slack.api_url", Needs: "https to slack.com, wss to *.slack.com",
	}.Unreached(err)
}

// checkScopes compares the scopes that were granted with those needed: Slack can
// install an app with fewer than its manifest asks for.
func (p *platform) checkScopes(has []string) chat.Finding {
	if len(has) == 0 {
		return chat.Warned("check whether a proxy drops the header X-OAuth-Scopes", "Slack does not say which scopes the app has")
	}
	report, wanted, option := chat.Warned, Scopes, ""
	if p.o.AgentView {
		wanted, option = append(slices.Clone(Scopes), agentScope), " --agent-view"
	}
	var missing []string
	for _, scope := range wanted {
		if slices.Contains(has, scope.Name) {
			continue
		}
		missing = append(missing, scope.Name+" ("+scope.Why+")")
		if scope.Name == "chat:write" {
			report = chat.Failed
		}
	}
	if missing == nil {
		return chat.Passed("the app has all %d scopes", len(wanted))
	}
	return report("paste the output of `holdfast slack manifest"+option+"` into the app's settings (api.slack.com/apps, App Manifest), save it, and install the app again (Install App)",
		"the app lacks %d of %d scopes: %s", len(missing), len(wanted), strings.Join(missing, "; "))
}
