package dispatch

import (
	"errors"
	"log/slog"
	"time"

	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// Options configure a [Dispatcher]. Client, Store, Events and Limits are required.
type Options struct {
	Client *Client
	Store  *store.Store
	Events event.Bus
	Model  string // the configured model, for the UI
	Limits protocol.Limits
	Logger *slog.Logger
}

// Dispatcher brings what the store holds to its workflows: messages, decisions, and
// after a failure also turns and subagents. Any process may have one. Safe for
// concurrent use.
type Dispatcher struct {
	*Client

	store    *store.Store
	events   event.Bus
	model    string
	limits   protocol.Limits
	log      *slog.Logger
	began    time.Time
	rarely   rarely
	sessions sessions
}

// NewDispatcher returns a dispatcher.
func NewDispatcher(o Options) (*Dispatcher, error) {
	switch {
	case o.Client == nil, o.Store == nil, o.Events == nil:
		return nil, errors.New("dispatch: client, store and events are required")
	case o.Limits.Steps < 1:
		return nil, errors.New("dispatch: a turn needs at least one step")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Dispatcher{
		Client: o.Client, store: o.Store, events: o.Events, model: o.Model, limits: o.Limits, log: o.Logger, began: time.Now(),
	}, nil
}
