package node

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/config"
)

// platform is a chat platform that the config can enable.
type platform struct {
	enabled  bool
	isDirect func(chat string) bool
	open     func(*slog.Logger) (PushChannel, error)
}

// platforms returns the chat platforms by name.
func platforms(c config.Channels) map[string]platform {
	return map[string]platform{
		slack.Name: {
			c.Slack.Enabled, slack.IsDirect,
			func(log *slog.Logger) (PushChannel, error) { return slack.New(SlackOptions(c.Slack, log)) },
		},
	}
}

// OpenChannel opens an enabled push channel.
func OpenChannel(c config.Channels, name string, log *slog.Logger) (PushChannel, error) {
	all := platforms(c)
	p, known := all[name]
	switch {
	case !known:
		return nil, fmt.Errorf("cannot send to %q: --channel must be %s", name, strings.Join(slices.Sorted(maps.Keys(all)), " or "))
	case !p.enabled:
		return nil, fmt.Errorf("cannot send to %q: it is disabled (channels.%[2]s.enabled); see docs/%[2]s.md", name, name)
	}
	return p.open(log)
}

// openChannels opens the enabled push channels. A private process has none: it serves
// one chat.
func (n *Node) openChannels() error {
	n.push = maps.Clone(n.roles.Push)
	if n.push == nil {
		n.push = map[string]PushChannel{}
	}
	if n.roles.Private {
		return nil
	}
	for name, p := range platforms(n.Config.Channels) {
		if !p.enabled {
			continue
		}
		channel, err := p.open(n.log)
		if err != nil {
			return fmt.Errorf("open the channel %s: %w", name, err)
		}
		n.push[name] = channel
	}
	return nil
}

// SlackOptions returns the options of the Slack channel.
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
