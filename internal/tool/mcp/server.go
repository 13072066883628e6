package mcp

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	startTimeout   = 2 * time.Minute  // for commands, which may install the server first
	connectTimeout = 30 * time.Second // for URLs
	// firstDelay and longestDelay bound the pause between attempts to reach a server
	// that is not in use.
	firstDelay   = time.Second
	longestDelay = 5 * time.Minute
	steady       = time.Minute     // a connection that lasted longer resets the delay
	staleAfter   = 5 * time.Minute // age at which lists are read again; notifications may get lost
)

// server maintains the connection to a server.
type server struct {
	Server
	dir     string
	names   []string // of all servers
	home    *home    // as in Servers
	log     *slog.Logger
	client  *sdk.Client
	redact  func(string) string
	wake    chan struct{} // requests a connection now
	changed chan struct{} // requests reading the lists again
	first   *attempt      // the first attempt to connect
	shown   sync.Map      // progress callbacks of calls, by token

	mu      sync.Mutex
	session *session // nil while disconnected
	next    *attempt // the current attempt to connect, or else the next one
	lists   lists
}

// attempt is one attempt to connect.
type attempt struct {
	done    chan struct{} // closed at its end
	session *session
	err     error
}

func newServer(o Options, described Server, names []string, h *home) *server {
	s := &server{
		Server: described, dir: o.Dir, names: names, home: h,
		log:     o.Logger.With("server", described.Name),
		redact:  redactor(described),
		wake:    make(chan struct{}, 1),
		changed: make(chan struct{}, 1),
		first:   &attempt{done: make(chan struct{})},
	}
	s.next = s.first
	s.Timeout = cmp.Or(s.Timeout, defaultTimeout)
	s.client = sdk.NewClient(&sdk.Implementation{Name: "holdfast", Version: o.Version}, &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{},
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { notify(s.changed) },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { notify(s.changed) },
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { notify(s.changed) },
		ProgressNotificationHandler: s.progress,
	})
	return s
}

// redactor returns a function that replaces the secrets of a server's configuration.
func redactor(described Server) func(string) string {
	const short = 6 // shorter values are not secret and would match everywhere
	var pairs []string
	for _, values := range []map[string]string{described.Env, described.Headers} {
		for _, value := range values {
			for _, word := range append(strings.Fields(value), value) {
				if len(word) >= short {
					pairs = append(pairs, word, "***")
				}
			}
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run keeps the server connected until ctx ends.
func (s *server) run(ctx context.Context) {
	delay, failing := firstDelay, false
	for {
		began := time.Now()
		session, err := s.open(ctx)
		s.settle(session, err)
		switch {
		case err == nil:
			failing = false
			s.log.Info("mcp server connected", "tools", len(s.known().tools))
			s.keep(ctx, session)
		case ctx.Err() == nil && !failing:
			failing = true
			s.log.Warn("mcp server not reached, will retry", "err", err)
		}
		if time.Since(began) > steady {
			delay = firstDelay
		}
		select {
		case <-ctx.Done():
			s.shut()
			return
		case <-s.wake:
		case <-time.After(delay):
		}
		delay = min(2*delay, longestDelay)
	}
}

// settle ends the current attempt with session or err.
func (s *server) settle(session *session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next.session, s.next.err = session, err
	close(s.next.done)
	s.next = &attempt{done: make(chan struct{})}
	s.session = session
}

// shut fails the attempt that will not be made because ctx ended.
func (s *server) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next.err = errClosed
	close(s.next.done)
}

// keep updates the lists until the session or ctx ends.
func (s *server) keep(ctx context.Context, session *session) {
	for {
		select {
		case <-s.changed:
			if err := s.read(ctx, session.sdk); err != nil {
				s.log.Debug("mcp server lists not refreshed", "err", s.redact(err.Error()))
			}
			continue
		case <-ctx.Done():
			session.drop(errClosed)
		case <-session.ended:
		case <-session.use.Done():
		}
		break
	}
	s.mu.Lock()
	s.session = nil
	s.mu.Unlock()
	session.close()
	if ctx.Err() == nil {
		s.log.Info("mcp server lost", "reason", cmp.Or(session.why(), "its session ended"))
	}
}

// connected returns the session, connecting first if necessary.
func (s *server) connected(ctx context.Context) (*session, error) {
	s.mu.Lock()
	session, next := s.session, s.next
	s.mu.Unlock()
	if session != nil && !session.over() {
		return session, nil
	}
	notify(s.wake)
	select {
	case <-next.done:
		return next.session, next.err
	case <-ctx.Done():
		return nil, errors.New("not connected")
	}
}

// known returns the known lists, and requests an update if they are stale.
func (s *server) known() lists {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil && time.Since(s.lists.read) > staleAfter {
		notify(s.changed)
	}
	return s.lists
}
