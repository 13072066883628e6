package mattermost

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// checkTimeout bounds a check.
const checkTimeout = 15 * time.Second

// Check implements [chat.Checker].
func (p *platform) Check(ctx context.Context) []chat.Finding {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	self, err := p.identify(ctx)
	if err != nil {
		return []chat.Finding{p.rejected(err)}
	}
	found := []chat.Finding{chat.Passed("connected as %s (%s)", self.Username, self.ID)}
	if !self.IsBot {
		found = append(found, chat.Warned("create a bot account (Integrations, Bot Accounts) and use its token",
			"the token is that of a person, whose own messages are not answered"))
	}
	teams, err := p.teams(ctx)
	if err != nil {
		return append(found, p.rejected(err))
	}
	var names []string
	for _, t := range teams[:min(len(teams), 5)] {
		names = append(names, t.Name)
	}
	if len(teams) == 0 {
		found = append(found, chat.Warned("add it to a team (Invite People), then to channels", "the bot is in no team: it is only reached by people who know its name"))
	} else {
		found = append(found, chat.Passed("in %d team(s): %s", len(teams), strings.Join(names, ", ")))
	}
	if strings.HasPrefix(p.o.URL, "http://") {
		found = append(found, chat.Warned("use https, unless the server is on this machine", "channels.mattermost.url is not encrypted"))
	}
	if p.hook == nil {
		return append(found, chat.Passed("approvals are answered in words: channels.mattermost.callback_url is empty"))
	}
	return append(found, chat.Passed("approvals have buttons; clicks are sent to %s, which must be in the server's AllowedUntrustedInternalConnections if it is private", p.o.CallbackURL))
}

// rejected returns why a call failed.
func (p *platform) rejected(err error) chat.Finding {
	switch failed := remote.As(err); {
	case errors.Is(err, errToken):
		return chat.Failed("create another (Integrations, Bot Accounts) and set MATTERMOST_TOKEN or channels.mattermost.token", "unknown token")
	case says(err, ""):
		return chat.Failed("check channels.mattermost.url and the bot's permissions", "%v", err)
	case failed != nil:
		return chat.Endpoint{Platform: "Mattermost", URL: p.o.URL, Setting: "channels.mattermost.url", Needs: "https and wss to the server"}.Unreached(err)
	}
	return chat.Failed("check channels.mattermost", "%v", err)
}
