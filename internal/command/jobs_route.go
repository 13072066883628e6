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

// jobRoute returns where the replies of a job go. It checks only the form of a chat
// ID: the bot may be invited later.
func jobRoute(ctx context.Context, cfg config.Config, name, chat, thread string) (domain.Route, error) {
	switch {
	case name == "" && chat == "" && thread == "":
		return domain.Route{Channel: domain.JobChannel, Sender: operator}, nil
	case name == "":
		return domain.Route{}, errors.New("--chat and --thread need --channel, such as slack")
	case name == http.Name:
		return domain.Route{}, errors.New("cannot send to http: its clients fetch their replies. " +
			"Leave --channel out and see the replies with `holdfast jobs list` and `holdfast sessions show job:ID`")
	}
	channel, err := node.OpenChannel(cfg.Channels, name, slog.New(slog.DiscardHandler))
	if err != nil {
		return domain.Route{}, err
	}
	if locator, ok := channel.(channels.Locator); ok {
		ctx, cancel := context.WithTimeout(ctx, locateTimeout)
		defer cancel()
		chat, err = locator.Locate(ctx, chat, thread)
		if malformed, ok := errors.AsType[channels.MalformedError](err); ok {
			err = fmt.Errorf("--%w", malformed)
		}
	}
	return domain.Route{Channel: name, Chat: chat, Thread: thread, Sender: operator, Push: true}, err
}
