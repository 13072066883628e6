package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// checkTimeout bounds a call of a check.
const checkTimeout = 10 * time.Second

// neededRights are what the bot needs in a server: to see channels, write in them and in threads,
// attach files, read the history, and react.
const neededRights = 1<<10 | 1<<11 | 1<<38 | 1<<15 | 1<<16 | 1<<6

const textContentIntent = "turn on Message Content Intent (discord.com/developers/applications, Bot, Privileged Gateway Intents) and restart"

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	const find = "turn on Developer Mode in Discord's settings (Advanced), then right-click "
	return chat.Words{Group: "channel", FindPerson: find + "a person, Copy User ID", FindGroup: find + "a channel, Copy Channel ID"}
}

// Check implements [chat.Checker].
func (p *platform) Check(ctx context.Context) []chat.Finding {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	self, err := p.identify(ctx)
	if err != nil {
		return []chat.Finding{p.rejected(err)}
	}
	found := []chat.Finding{chat.Passed("connected as %s (%s)", self.name, self.id)}
	if self.content {
		found = append(found, chat.Passed("the bot may read messages"))
	} else {
		found = append(found, chat.Warned(textContentIntent, "the Message Content intent is off: only mentions and direct messages are answered"))
	}
	return append(found, p.checkServers(ctx, self))
}

func (p *platform) checkServers(ctx context.Context, self identity) chat.Finding {
	var servers []struct {
		Name string `json:"name"`
	}
	if err := p.call(ctx, request{method: http.MethodGet, route: "/users/@me/guilds"}, &servers); err != nil {
		return p.rejected(err)
	}
	if len(servers) == 0 {
		invitation := fmt.Sprintf("https://discord.com/oauth2/authorize?client_id=%s&scope=bot+applications.commands&permissions=%d", self.application, neededRights)
		return chat.Warned("invite it by this link: "+invitation, "the bot is in no server, so nobody can write to it")
	}
	var names []string
	for _, s := range servers[:min(len(servers), 5)] {
		names = append(names, s.Name)
	}
	return chat.Passed("in %d server(s): %s", len(servers), strings.Join(names, ", "))
}

// rejected returns why a call failed.
func (p *platform) rejected(err error) chat.Finding {
	if errors.Is(err, errWrongToken) {
		return chat.Failed("copy it again (discord.com/developers/applications, Bot, Reset Token) into DISCORD_BOT_TOKEN or channels.discord.token", "unknown token")
	}
	return chat.Endpoint{
		Platform: "Discord", URL: p.o.APIURL, Setting: "channels.discord.api_url", Needs: "https to discord.com, wss to gateway.discord.gg",
	}.Unreached(err)
}
