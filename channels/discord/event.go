package discord

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// dispatch handles an event. One that cannot be read is logged: it will not come again.
func (g *gateway) dispatch(ctx context.Context, f frame) {
	err := g.event(ctx, f)
	if err != nil {
		g.log.Error("event not understood", "event", f.Type, "err", err)
	}
}

func (g *gateway) event(ctx context.Context, f frame) (err error) {
	defer chat.RecoverPanic(&err)
	switch f.Type {
	case "READY":
		return g.ready(ctx, f.Data)
	case "RESUMED":
		g.log.Info("receiving again")
	case "GUILD_CREATE", "GUILD_DELETE":
		return g.server(ctx, f)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var c channel
		if err := decode(f.Data, &c); err != nil {
			return err
		}
		g.announced.put(c.GuildID, c)
	case "THREAD_LIST_SYNC":
		var s server
		if err := decode(f.Data, &s); err != nil {
			return err
		}
		g.announced.put(s.GuildID, s.Threads...)
	case "MESSAGE_CREATE":
		m, err := readMessage(f.Data)
		if err != nil {
			return err
		}
		g.feed.live(ctx, m)
	case "INTERACTION_CREATE":
		return g.interact(ctx, f.Data)
	}
	return nil
}

// ready begins a session.
func (g *gateway) ready(ctx context.Context, data json.RawMessage) error {
	var ready struct {
		SessionID string   `json:"session_id"`
		ResumeURL string   `json:"resume_gateway_url"`
		Guilds    []server `json:"guilds"`
	}
	if err := decode(data, &ready); err != nil {
		return err
	}
	g.session.id, g.session.url = ready.SessionID, ready.ResumeURL
	g.log.Info("receiving", "servers", len(ready.Guilds))
	var guilds []string
	for _, s := range ready.Guilds {
		guilds = append(guilds, s.ID)
	}
	g.feed.begin(ctx, guilds)
	if self, err := g.known(); err == nil && !g.registered {
		g.registered = true
		g.running.Go(func() {
			register := func(ctx context.Context) error { return g.registerCommands(ctx, self.application) }
			if err := chat.Retry(ctx, g.log, "registering commands", register); err != nil && ctx.Err() == nil {
				g.log.Warn("slash commands are not registered", "err", err)
			}
		})
	}
	return nil
}

// server is a server as it is announced.
type server struct {
	ID          string    `json:"id"`
	GuildID     string    `json:"guild_id"`
	Unavailable bool      `json:"unavailable"`
	Channels    []channel `json:"channels"`
	Threads     []channel `json:"threads"`
	Roles       []struct {
		ID   string `json:"id"`
		Tags struct {
			BotID string `json:"bot_id"`
		} `json:"tags"`
	} `json:"roles"`
}

// server handles that a server was announced, or that it is gone.
func (g *gateway) server(ctx context.Context, f frame) error {
	var s server
	if err := decode(f.Data, &s); err != nil {
		return err
	}
	if s.Unavailable {
		return nil
	}
	all := append(s.Channels, s.Threads...)
	g.announced.put(s.ID, all...)
	self, err := g.known()
	if err != nil {
		return err
	}
	for _, role := range s.Roles {
		if role.Tags.BotID == self.id {
			g.announced.putRole(role.ID)
		}
	}
	g.feed.listed(ctx, s.ID, all)
	return nil
}

// decode decodes a payload.
func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	return nil
}
