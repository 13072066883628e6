package http

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	nethttp "net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/health"
)

// Name is the channel's name, the first part of its session keys.
const Name = "http"

const (
	defaultSession = "main"
	// DefaultSender is the sender of messages that do not name one.
	DefaultSender = "http"
	acceptTimeout = 30 * time.Second
)

// Options are the settings of a [Channel]. The zero value listens on loopback.
type Options struct {
	Listen    string                     // host:port; empty: 127.0.0.1:8090
	Token     string                     // bearer token required of clients; empty: none, loopback only
	MaxText   int                        // bytes of a message's text; 0: 1 MB. A body may be 8 times as large
	KeepAlive time.Duration              // interval of keep-alives in a stream; 0: 15 s
	Version   string                     // reported by /healthz
	Check     health.Check               // reported by /readyz; nil: always ready
	Pages     map[string]nethttp.Handler // further pages, by path; they are for the owner alone
	// PushChannel is the channel that pushes replies, and Endpoints the names of where to.
	PushChannel string
	Endpoints   []string
	Logger      *slog.Logger // nil: discard
}

// api handles the requests.
type api struct {
	options Options
	log     *slog.Logger
	backend channels.Backend
	// sessions is nil if the backend does not read sessions, chats if it does not find them.
	sessions channels.Sessions
	chats    channels.Chats
}

func newAPI(o Options, log *slog.Logger, b channels.Backend) *api {
	sessions, _ := b.(channels.Sessions)
	chats, _ := b.(channels.Chats)
	return &api{options: o, log: log, backend: b, sessions: sessions, chats: chats}
}

// accept checks a message, fills in defaults, and passes it to the backend. It
// continues if the client disconnects or the server shuts down.
func (a *api) accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	msg.Chat, msg.Sender = cmp.Or(msg.Chat, defaultSession), cmp.Or(msg.Sender, DefaultSender)
	err := errors.Join(checkName("id", msg.PlatformID), checkName("session", msg.Chat), checkName("session", msg.Thread), checkName("sender", msg.Sender), a.checkText("text", msg.Text))
	if err != nil {
		return channels.Accepted{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTimeout)
	defer cancel()
	return a.backend.Accept(ctx, msg)
}

// channelOf returns the channel of the message that a client knows by this ID.
func (a *api) channelOf(ctx context.Context, id string) (string, error) {
	_, err := a.backend.Message(ctx, domain.MessageID(Name, "", id))
	if !errors.Is(err, domain.ErrNotFound) || a.options.PushChannel == "" {
		return Name, err
	}
	_, err = a.backend.Message(ctx, domain.MessageID(a.options.PushChannel, "", id))
	return a.options.PushChannel, err
}

// message returns the message that a client knows by this ID.
func (a *api) message(ctx context.Context, id string) (domain.Reply, error) {
	channel, err := a.channelOf(ctx, id)
	if err != nil {
		return domain.Reply{Message: id}, err
	}
	state, err := a.backend.Message(ctx, domain.MessageID(channel, "", id))
	state.Message = id
	return state, err
}
