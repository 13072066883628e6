package telegram

import (
	"context"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// probing is how long a check looks for another process that polls.
	probing = 3 * time.Second
	// stale is after how long a failed delivery of a webhook is no longer reported.
	stale = time.Hour

	tokenAt = "@BotFather in Telegram, /mybots, API Token"
	privacy = "@BotFather, /setprivacy, Disable, then remove the bot from its groups and add it again; or make it an administrator"
)

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	return chat.Words{
		Group:      "group",
		FindPerson: "the log shows the ID of who was refused, as user_id",
		FindGroup:  "mention the bot in a group, and it says the group's ID",
	}
}

// Hook implements [chat.Hooked].
func (p *platform) Hook() *chat.Webhook {
	if p.o.Mode != ModeWebhook {
		return nil
	}
	return p.webhook
}

// Check implements [chat.Checker].
func (p *platform) Check(ctx context.Context) []chat.Finding {
	self, err := p.whoAmI(ctx)
	if err != nil {
		return []chat.Finding{p.rejected(err)}
	}
	findings := []chat.Finding{chat.Passed("connected as @%s (%d), mode %s", self.Username, self.ID, p.o.Mode)}
	if p.o.Respond == RespondAll && !self.ReadsAll {
		findings = append(findings, chat.Warned(privacy, "in groups it sees only commands, mentions and replies to it, since privacy mode is on, although respond is all"))
	}
	info, err := p.webhookInfo(ctx)
	switch {
	case err != nil:
		return append(findings, p.rejected(err))
	case p.o.Mode == ModeWebhook:
		return append(findings, p.checkWebhook(info))
	case info.URL != "":
		return append(findings, chat.Warned("nothing, if no other program uses this bot: the webhook is removed at the start",
			"a webhook is set at %s, although the mode is polling", info.shown()))
	}
	return append(findings, p.checkPolling(ctx))
}

// checkPolling looks for another process that polls, without confirming anything: its next poll ends ours.
func (p *platform) checkPolling(ctx context.Context) chat.Finding {
	_, err := p.getUpdates(ctx, 0, probing)
	switch failed := remote.As(err); {
	case err == nil:
		return chat.Passed("no other process polls")
	case failed != nil && failed.Status == http.StatusConflict:
		return chat.Warned("nothing, if that is Holdfast itself; otherwise stop it, or give this one a bot of its own (/newbot at @BotFather)",
			"another process polls with this token: each message reaches only one of them")
	}
	return p.rejected(err)
}

func (p *platform) checkWebhook(info webhookInfo) chat.Finding {
	failed := time.Unix(info.ErrorDate, 0)
	switch {
	case info.URL == "":
		return chat.Passed("no webhook is set yet: it is at the start")
	case info.URL != p.o.WebhookURL:
		return chat.Warned("nothing, if no other program uses this bot: the webhook is moved at the start",
			"the webhook is set at %s, which is not channels.telegram.webhook_url", info.shown())
	case time.Since(failed) < stale:
		return chat.Failed("check that channels.telegram.webhook_url reaches channels.telegram.listen through your proxy, with a certificate that Telegram trusts",
			"Telegram could not deliver to the webhook %s ago (%d messages wait): %s", time.Since(failed).Round(time.Second), info.Pending, info.Error)
	}
	return chat.Passed("Telegram delivers to the webhook at %s (%d messages wait)", info.shown(), info.Pending)
}

// rejected returns the finding for a call that failed.
func (p *platform) rejected(err error) chat.Finding {
	failed := remote.As(err)
	switch {
	case refusedToken(err):
		return chat.Failed("copy it again ("+tokenAt+") into TELEGRAM_BOT_TOKEN or channels.telegram.token", "unknown token: %v", err)
	case failed != nil && failed.Status == http.StatusTooManyRequests:
		return chat.Warned("wait and try again", "rate limited by Telegram: %v", err)
	}
	return chat.Endpoint{Platform: "Telegram", URL: p.base, Setting: "channels.telegram.api_url", Needs: "https to api.telegram.org"}.Unreached(err)
}
