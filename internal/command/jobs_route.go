package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/node"
)

var (
	// slackChat is a channel (C), a private one (G) or a direct message (D), with or
	// without its workspace.
	slackChat = regexp.MustCompile(`^([TE][A-Z0-9]+/)?[CGD][A-Z0-9]+$`)
	// slackThread is Slack's ID of the message below which a thread is.
	slackThread = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)
)

// operator is who makes a job at the command line.
const operator = "operator"

// route is where the replies of the job are to go. What it says of a chat is checked
// only as far as its form goes: the bot may be invited later.
func (f jobFlags) route(ctx context.Context, cfg config.Config) (domain.Route, error) {
	switch {
	case f.channel == "" && f.chat == "" && f.thread == "":
		return domain.Route{Channel: domain.JobChannel, Sender: operator}, nil
	case f.channel == "":
		return domain.Route{}, errors.New("--channel is missing, which --chat and --thread belong to: slack")
	case f.channel == http.Name:
		return domain.Route{}, errors.New("nothing can be sent over http, whose clients fetch their replies; " +
			"leave --channel out, then `holdfast jobs list` and `holdfast sessions show job:ID` have the replies")
	case f.channel != slack.Name:
		return domain.Route{}, fmt.Errorf("nothing can be sent over %q: --channel has to be slack", f.channel)
	case !cfg.Channels.Slack.Enabled:
		return domain.Route{}, fmt.Errorf("nothing can be sent over %q, which is not turned on (channels.slack.enabled); docs/slack.md says how to set it up", f.channel)
	case f.chat == "":
		return domain.Route{}, errors.New("--chat is missing, to which the replies go: " + chatForm)
	case !slackChat.MatchString(f.chat):
		return domain.Route{}, fmt.Errorf("--chat is %q, but has to be %s", f.chat, chatForm)
	case f.thread != "" && !slackThread.MatchString(f.thread):
		return domain.Route{}, fmt.Errorf("--thread is %q, but has to be that of a thread's first message, such as 1712345678.123456 "+
			"(its link in Slack ends in it, as p1712345678123456)", f.thread)
	}
	chat, err := fullChat(ctx, cfg, f.chat)
	return domain.Route{Channel: f.channel, Chat: chat, Thread: f.thread, Sender: operator, Push: true}, err
}

// chatForm says what --chat looks like.
const chatForm = "Slack's ID of a channel or a direct message, such as C012ABC " +
	"(Slack shows it at the bottom of what opens when you click the channel's name; a person's ID or a name will not do)"

// slackTimeout bounds the question to Slack.
const slackTimeout = 10 * time.Second

// fullChat is a chat of Slack as its conversations are called: with its workspace,
// which Slack is asked for if it is left out.
func fullChat(ctx context.Context, cfg config.Config, chat string) (string, error) {
	if strings.Contains(chat, "/") {
		return chat, nil
	}
	channel, err := slack.New(node.SlackOptions(cfg.Channels.Slack, slog.New(slog.DiscardHandler)))
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, slackTimeout)
	defer cancel()
	self, err := channel.Identify(ctx)
	if err != nil {
		return "", fmt.Errorf("ask Slack which workspace %s is in (T012ABC/%s says so): %w", chat, chat, err)
	}
	return self.TeamID + "/" + chat, nil
}
