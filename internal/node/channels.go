package node

import (
	"fmt"
	"log/slog"
	"maps"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/config"
)

// PushChannel is a channel with both of its ends.
type PushChannel interface {
	channels.Receiver
	channels.Sender
}

// openChannels adds the push channels that the config turns on. A private process
// has none: it is there for one chat.
func (n *Node) openChannels() error {
	n.push = maps.Clone(n.roles.Push)
	if n.push == nil {
		n.push = map[string]PushChannel{}
	}
	if n.roles.Private || !n.Config.Channels.Slack.Enabled {
		return nil
	}
	channel, err := slack.New(SlackOptions(n.Config.Channels.Slack, n.log))
	if err != nil {
		return fmt.Errorf("open the slack channel: %w", err)
	}
	n.push[slack.Name] = channel
	return nil
}

func SlackOptions(c config.Slack, log *slog.Logger) slack.Options {
	return slack.Options{
		Mode: c.Mode, BotToken: c.BotToken.Reveal(), AppToken: c.AppToken.Reveal(), SigningSecret: c.SigningSecret.Reveal(),
		Listen: c.Listen, Path: c.Path, APIURL: c.APIURL,
		AllowUsers: c.AllowUsers, AllowChannels: c.AllowChannels, AllowBots: c.AllowBots,
		Respond: c.Respond, Stream: c.Stream, FileLimit: int64(c.MaxFileMB) << 20, Logger: log.With("channel", slack.Name),
	}
}

// enrichers returns the push channels that enrich their messages, by name.
func (n *Node) enrichers() map[string]channels.Enricher {
	enrichers := map[string]channels.Enricher{}
	for name, channel := range n.push {
		if enricher, ok := channel.(channels.Enricher); ok {
			enrichers[name] = enricher
		}
	}
	return enrichers
}
