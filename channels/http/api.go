package http

import (
	"log/slog"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
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
	Listen    string        // host:port; empty: 127.0.0.1:8090
	Token     string        // bearer token required of clients; empty: none, loopback only
	MaxText   int           // bytes of a message's text; 0: 1 MB. A body may be 8 times as large
	KeepAlive time.Duration // interval of keep-alives in a stream; 0: 15 s
	Version   string        // reported by /healthz
	Logger    *slog.Logger  // nil: discard
}

// api handles the requests.
type api struct {
	options Options
	log     *slog.Logger
	backend channels.Backend
	// sessions is nil if the backend does not read sessions.
	sessions channels.Sessions
}

func newAPI(o Options, log *slog.Logger, b channels.Backend) *api {
	sessions, _ := b.(channels.Sessions)
	return &api{options: o, log: log, backend: b, sessions: sessions}
}
