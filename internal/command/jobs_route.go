package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// operator is the sender of jobs added at the command line.
const operator = "operator"

// locateTimeout bounds asking a platform about a chat.
const locateTimeout = 10 * time.Second

// route returns where the job's replies go. Only the form of a chat is checked: the bot
// may be invited later.
func (f jobFlags) route(ctx context.Context, cfg config.Config) (domain.Route, error) {
	switch {
	case f.channel == "" && f.chat == "" && f.thread == "":
		return domain.Route{Channel: domain.JobChannel, Sender: operator}, nil
	case f.channel == "":
		return domain.Route{}, errors.New("--channel is missing, which --chat and --thread belong to: slack")
	case f.channel == http.Name:
		return domain.Route{}, errors.New("nothing can be sent over http, whose clients fetch their replies; " +
			"leave --channel out, then `holdfast jobs list` and `holdfast sessions show job:ID` have the replies")
	}
	channel, err := node.OpenChannel(cfg.Channels, f.channel, slog.New(slog.DiscardHandler))
	if err != nil {
		return domain.Route{}, err
	}
	chat := f.chat
	if locator, ok := channel.(channels.Locator); ok {
		ctx, cancel := context.WithTimeout(ctx, locateTimeout)
		defer cancel()
		chat, err = locator.Locate(ctx, f.chat, f.thread)
		if malformed, ok := errors.AsType[channels.MalformedError](err); ok {
			err = fmt.Errorf("--%w", malformed)
		}
	}
	return domain.Route{Channel: f.channel, Chat: chat, Thread: f.thread, Sender: operator, Push: true}, err
}
