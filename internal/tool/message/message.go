// Package message implements the message tool, which sends messages other than the reply.
package message

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	// FileLimit bounds an attached file, in bytes.
	FileLimit = 50 << 20
	fileCount = 10 // files of one message
	// maxAttempts is how often the tool tries to deliver a message to a failing
	// platform before it reports the failure to the model.
	maxAttempts = 10
)

// Store holds routes and outgoing messages.
type Store interface {
	// Route returns where the reply of a turn goes.
	Route(ctx context.Context, turn string) (domain.Route, error)
	// Send adds a message to the outbox, once per ID.
	Send(ctx context.Context, out domain.Outbound) error
}

// Outbox delivers messages to one channel.
type Outbox struct {
	// Deliver makes one attempt to deliver the message with this ID and returns its
	// state. It is idempotent.
	Deliver func(ctx context.Context, id string) (domain.OutboxState, error)
	// Resolver finds other chats; nil if the channel can only write to the chat
	// that the turn came from.
	Resolver channels.RecipientResolver
}

// Options configure the tool. All are required.
type Options struct {
	Store     Store
	Outboxes  map[string]Outbox // by channel name
	Workspace string            // absolute path; attachments must be inside
}

type arguments struct {
	Content string   `json:"content,omitempty"`
	To      string   `json:"to,omitempty"`
	Channel string   `json:"channel,omitempty"`
	Files   []string `json:"files,omitempty"`
}

// New returns the message tool. It stores a message in the outbox before sending
// it, so that retries deliver it once.
func New(o Options) tool.Tool {
	t := tool.New("message", `Send a Markdown message to another chat, or workspace files to any chat. to is a #channel, @person or ID;
to and channel (slack, ...) default to this conversation. Your answer arrives here anyway: do not send it with this tool too.`,
		tool.Keyed, o.run)
	t.SubjectOf = func(raw json.RawMessage) tool.Subject {
		var args arguments
		// Invalid arguments name no file; Run reports them.
		_ = json.Unmarshal(raw, &args)
		return tool.PathSubject(o.Workspace, args.Files...).Mentioned()
	}
	return t
}

func (o Options) run(ctx context.Context, call tool.Call, args arguments) (tool.Result, error) {
	if strings.TrimSpace(args.Content) == "" && len(args.Files) == 0 {
		return tool.Result{}, errors.New("nothing to send: give content or files")
	}
	turn := call.Turn()
	route, err := o.route(ctx, turn, args)
	if err != nil {
		return tool.Result{}, err
	}
	messages, err := o.compose(call.Key, turn, route, args)
	if err != nil {
		return tool.Result{}, err
	}
	for _, out := range messages {
		if err := o.Store.Send(ctx, out); err != nil {
			return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
		}
	}
	for _, out := range messages {
		if err := o.deliver(ctx, out, call.Attempt); err != nil {
			return tool.Result{}, err
		}
	}
	return tool.Result{Text: "Sent."}, nil
}

// route returns where the message goes: to the turn's own conversation, or to
// another chat that the turn's sender may write to.
func (o Options) route(ctx context.Context, turn string, args arguments) (domain.Route, error) {
	route, err := o.Store.Route(ctx, turn)
	if err != nil {
		return domain.Route{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	elsewhere := args.To != "" || args.Channel != "" && args.Channel != route.Channel
	channel := cmp.Or(args.Channel, route.Channel)
	outbox, found := o.Outboxes[channel]
	switch {
	case !found && !elsewhere:
		return domain.Route{}, errors.New("this conversation only receives your final reply: put the text there, and mention files by path")
	case !found:
		return domain.Route{}, fmt.Errorf("unknown channel %q; available: %s", channel, strings.Join(slices.Sorted(maps.Keys(o.Outboxes)), ", "))
	case !elsewhere:
		return route, nil
	case args.To == "":
		return domain.Route{}, errors.New("to is required")
	case channel != route.Channel:
		return domain.Route{}, fmt.Errorf("a request from %s cannot send messages on %s: the sender is not known there", route.Channel, channel)
	}
	if outbox.Resolver == nil {
		return domain.Route{}, fmt.Errorf("%s can only send to this conversation", channel)
	}
	chat, err := outbox.Resolver.Resolve(ctx, route.Sender, args.To)
	if err != nil {
		return domain.Route{}, err
	}
	if chat == route.Chat {
		return route, nil
	}
	return domain.Route{Channel: channel, Chat: chat}, nil
}

// compose returns the outbox rows: the text first, then one row per file.
func (o Options) compose(key, turn string, route domain.Route, args arguments) ([]domain.Outbound, error) {
	if len(args.Files) > fileCount {
		return nil, fmt.Errorf("a message can have at most %d files, got %d", fileCount, len(args.Files))
	}
	out := domain.Outbound{Turn: turn, Channel: route.Channel, Chat: route.Chat, Thread: route.Thread}
	var messages []domain.Outbound
	if strings.TrimSpace(args.Content) != "" {
		text := out
		text.ID, text.Text = domain.CallOutboxID(key, 0), args.Content
		messages = append(messages, text)
	}
	for i, name := range args.Files {
		path, err := o.file(name)
		if err != nil {
			return nil, err
		}
		file := out
		file.ID, file.File, file.Path = domain.CallOutboxID(key, i+1), filepath.Base(path), path
		messages = append(messages, file)
	}
	return messages, nil
}

// file returns the path of an attachment relative to the workspace.
func (o Options) file(name string) (string, error) {
	path := filepath.Clean(name)
	if filepath.IsAbs(path) {
		inside, err := filepath.Rel(o.Workspace, path)
		if err != nil {
			return "", fmt.Errorf("%s is not in the workspace", name)
		}
		path = inside
	}
	root, err := os.OpenRoot(o.Workspace)
	if err != nil {
		return "", fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	info, err := root.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("file %s not found in the workspace", name)
	case err != nil:
		return "", fmt.Errorf("cannot send %s: only files in the workspace can be sent", name)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", name)
	case info.Size() > FileLimit:
		return "", fmt.Errorf("%s has %d bytes; the limit is %d", name, info.Size(), FileLimit)
	}
	return path, nil
}

// deliver makes one delivery attempt. It asks for a retry while the platform is
// unavailable and reports the failure to the model after maxAttempts.
func (o Options) deliver(ctx context.Context, out domain.Outbound, attempt int) error {
	state, err := o.Outboxes[out.Channel].Deliver(ctx, out.ID)
	failed := remote.As(err)
	switch {
	case err == nil && state == domain.OutboxFailed:
		return errors.New("not sent: the chat does not accept messages")
	case err == nil && state == domain.OutboxKept:
		return errors.New("not sent yet: the platform accepts it only after the next message in that chat, and it will be sent then; do not repeat it")
	case failed != nil && attempt >= maxAttempts:
		return fmt.Errorf("the message may not have been sent: %d attempts failed: %v", attempt, failed) //nolint:errorlint // wrapping would make the call retryable
	case err != nil:
		return fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	return nil
}
