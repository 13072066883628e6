package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	// fileLimit bounds a file that is sent, fileCount the files of one message.
	fileLimit = 50 << 20
	fileCount = 10
	// messageTries is how many attempts a platform gets before the model is told
	// that a message could not be sent.
	messageTries = 10
)

// messageArguments are what a model says of a message.
type messageArguments struct {
	Content string   `json:"content,omitempty" jsonschema:"the text, in Markdown"`
	To      string   `json:"to,omitempty" jsonschema:"who it is for: a channel as #ops, a person as @ana, or an ID; this conversation if left out"`
	Channel string   `json:"channel,omitempty" jsonschema:"the platform, such as slack; this conversation's if left out"`
	Files   []string `json:"files,omitempty" jsonschema:"paths of files in the workspace to attach"`
}

// messenger is the message tool: it sends what a turn says besides its reply.
type messenger struct {
	store     *store.Store
	outboxes  map[string]*Outbox
	workspace string
}

// NewMessageTool returns the tool that sends messages over these channels. A
// message is in the outbox before it is sent, so that it is sent once.
func NewMessageTool(s *store.Store, outboxes map[string]*Outbox, workspace string) (tool.Tool, error) {
	m := &messenger{store: s, outboxes: outboxes, workspace: workspace}
	return tool.New("message", `Send a message to another chat, or files to any chat, this one included.
What you say at the end of your work reaches this conversation by itself: do not send it with this tool too.`,
		tool.Keyed, m.run)
}

func (m *messenger) run(ctx context.Context, call tool.Call, args messageArguments) (tool.Result, error) {
	if strings.TrimSpace(args.Content) == "" && len(args.Files) == 0 {
		return tool.Result{}, errors.New("there is nothing to send: give content or files")
	}
	turn, _, _ := strings.Cut(call.Key, ".")
	route, err := m.route(ctx, turn, args)
	if err != nil {
		return tool.Result{}, err
	}
	messages, err := m.compose(call.Key, turn, route, args)
	if err != nil {
		return tool.Result{}, err
	}
	for _, out := range messages {
		if err := m.store.Send(ctx, out); err != nil {
			return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
		}
	}
	for _, out := range messages {
		if err := m.deliver(ctx, out, call.Attempt); err != nil {
			return tool.Result{}, err
		}
	}
	return tool.Result{Text: "Sent."}, nil
}

// route is where the message goes: where the turn's reply does, unless the model
// says otherwise and the sender may reach that.
func (m *messenger) route(ctx context.Context, turn string, args messageArguments) (store.Route, error) {
	route, err := m.store.Route(ctx, turn)
	if err != nil {
		return store.Route{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	elsewhere := args.To != "" || args.Channel != "" && args.Channel != route.Channel
	channel := cmp.Or(args.Channel, route.Channel)
	outbox := m.outboxes[channel]
	switch {
	case outbox == nil && !elsewhere:
		return store.Route{}, errors.New("this conversation gets only your reply: write there what you want to say, and name files by their path")
	case outbox == nil:
		return store.Route{}, fmt.Errorf("messages cannot be sent over %q; there are: %s", channel, strings.Join(slices.Sorted(maps.Keys(m.outboxes)), ", "))
	case !elsewhere:
		return route, nil
	case args.To == "":
		return store.Route{}, errors.New("say to whom it goes: to is missing")
	case channel != route.Channel:
		return store.Route{}, fmt.Errorf("whoever asks on %s is not known on %s, so nothing is sent there in their name", route.Channel, channel)
	}
	reacher, ok := outbox.sender.(channels.Reacher)
	if !ok {
		return store.Route{}, fmt.Errorf("messages on %s go to this conversation only", channel)
	}
	chat, err := reacher.Reach(ctx, route.Sender, args.To)
	if err != nil {
		return store.Route{}, err
	}
	if chat == route.Chat {
		return route, nil
	}
	return store.Route{Channel: channel, Chat: chat}, nil
}

// compose makes the rows of the outbox: the text, then each file.
func (m *messenger) compose(key, turn string, route store.Route, args messageArguments) ([]store.Outbound, error) {
	if len(args.Files) > fileCount {
		return nil, fmt.Errorf("at most %d files go with a message, not %d", fileCount, len(args.Files))
	}
	out := store.Outbound{Turn: turn, Channel: route.Channel, Chat: route.Chat, Thread: route.Thread}
	var messages []store.Outbound
	if strings.TrimSpace(args.Content) != "" {
		text := out
		text.ID, text.Text = protocol.CallOutboxID(key, 0), args.Content
		messages = append(messages, text)
	}
	for i, name := range args.Files {
		path, err := m.file(name)
		if err != nil {
			return nil, err
		}
		file := out
		file.ID, file.File, file.Path = protocol.CallOutboxID(key, i+1), filepath.Base(path), path
		messages = append(messages, file)
	}
	return messages, nil
}

// file returns the path of a file to be sent, relative to the workspace.
func (m *messenger) file(name string) (string, error) {
	path := filepath.Clean(name)
	if filepath.IsAbs(path) {
		inside, err := filepath.Rel(m.workspace, path)
		if err != nil {
			return "", fmt.Errorf("%s is not in the workspace", name)
		}
		path = inside
	}
	root, err := os.OpenRoot(m.workspace)
	if err != nil {
		return "", fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	info, err := root.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no file %s in the workspace", name)
	case err != nil:
		return "", fmt.Errorf("%s cannot be sent: only files in the workspace can", name)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file", name)
	case info.Size() > fileLimit:
		return "", fmt.Errorf("%s has %d bytes; at most %d can be sent", name, info.Size(), fileLimit)
	}
	return path, nil
}

// deliver sends one message. While the platform is away another attempt is made;
// after many the model is told.
func (m *messenger) deliver(ctx context.Context, out store.Outbound, attempt int) error {
	result, err := m.outboxes[out.Channel].deliver(ctx, protocol.DeliverInput{Outbox: out.ID})
	failed := remote.As(err)
	switch {
	case err == nil && result.Gone:
		return errors.New("it could not be sent: the chat cannot be written to")
	case failed != nil && attempt >= messageTries:
		return fmt.Errorf("it may not have been sent, %d attempts failed: %v", attempt, failed) //nolint:errorlint // the call is not to be tried again
	case err != nil:
		return fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	return nil
}
