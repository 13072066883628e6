package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
	silence    = time.Minute // after which a connection counts as dead
)

// errSilent ends a stream that has stopped without being closed.
var errSilent = errors.New("no data for a minute")

// Follow waits until the message with this ID has ended and reports its events,
// except [event.Done], to on, which may be nil. It reconnects until ctx ends: it reports
// [event.Disconnected] once and, when it is connected again, [event.Reset], since events may
// have been missed. It gives up early only if the server refuses the token or does not know
// the message.
func (c *Client) Follow(ctx context.Context, id string, on func(event.Event)) (domain.Reply, error) {
	if on == nil {
		on = func(event.Event) {}
	}
	pause, lost := firstPause, false
	for {
		connected := false
		message, err := c.stream(ctx, id, func() {
			connected = true
			if lost {
				lost = false
				on(event.Event{Kind: event.Reset})
			}
		}, on)
		if err == nil {
			return message, nil
		}
		if failed := remote.As(err); ctx.Err() == nil && failed != nil && failed.Permanent() {
			return domain.Reply{}, err
		}
		if connected {
			pause = firstPause
		}
		if !lost && ctx.Err() == nil {
			lost = true
			on(event.Event{Kind: event.Disconnected})
		}
		select {
		case <-ctx.Done():
			return domain.Reply{}, ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// stream reads the events of one connection, up to "done". It calls connected before the
// first.
func (c *Client) stream(ctx context.Context, id string, connected func(), on func(event.Event)) (domain.Reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watchdog.Stop()
	response, err := c.do(ctx, nethttp.MethodGet, "/v1/messages/"+url.PathEscape(id)+"/events", nil)
	if err != nil {
		return domain.Reply{}, err
	}
	defer func() { _ = response.Body.Close() }()
	connected()

	lines := bufio.NewReader(response.Body)
	name := ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return domain.Reply{}, fmt.Errorf("read events: %w", noEOF(err))
		}
		watchdog.Reset(silence)
		line = strings.TrimRight(line, "\r\n")
		if after, ok := strings.CutPrefix(line, "event: "); ok {
			name = after
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if event.Kind(name) == event.Done {
			var message domain.Reply
			return message, decode(data, &message)
		}
		var e event.Event
		if err := decode(data, &e); err != nil {
			return domain.Reply{}, err
		}
		e.Kind = event.Kind(name)
		on(e)
	}
}

func decode(data string, into any) error {
	if err := json.Unmarshal([]byte(data), into); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	return nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
