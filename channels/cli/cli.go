// Package cli is the terminal channel: it sends one message and prints the reply, or
// holds a conversation. It is a client of a running agent, and keeps notes of messages
// whose reply no terminal has shown yet.
package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	defaultSession = "main"
	stopText       = "/stop"

	sendTimeout = 10 * time.Second // for an agent to come back if no person waits
	sendPause   = 200 * time.Millisecond
	stopTimeout = 3 * time.Second // for a turn to stop
)

// ErrInterrupted is returned when the user stopped the turn.
var ErrInterrupted = errors.New("interrupted")

// TurnError is returned for a turn that ended without an answer from the model.
type TurnError struct {
	Reply string // what the user was told instead, in one line
}

// Error implements error.
func (e *TurnError) Error() string { return e.Reply }

// Agent is the part of the running agent that a conversation uses.
type Agent interface {
	// Send submits a message. Sending the same ID again has no effect. Errors are
	// [remote.Error]s.
	Send(ctx context.Context, session, id, text string) error
	// Follow waits until the message with this ID has ended and reports its events
	// to on. It returns early when ctx ends, or with a permanent [remote.Error] if
	// the message does not exist.
	Follow(ctx context.Context, id string, on func(event.Event)) (domain.Reply, error)
	// Background returns the first background replies of a session that ended after
	// the given time, oldest first.
	Background(ctx context.Context, session string, after time.Time) ([]domain.BackgroundReply, error)
}

// Options are the settings of a [Conversation].
type Options struct {
	Agent   Agent
	Session string // its name; empty: "main"
	Dir     string // for notes; created when needed
}

// Conversation sends messages to one session and waits for the replies. It writes a
// note before it sends a message and removes it once the message has ended, so that
// the next terminal can show a reply that this one missed. Safe for concurrent use.
type Conversation struct {
	agent   Agent
	session string
	notes   notes
	seen    seen
	link    connection
}

// New returns a conversation.
func New(o Options) *Conversation {
	if o.Session == "" {
		o.Session = defaultSession
	}
	n := newNotes(o.Dir, o.Session)
	return &Conversation{agent: o.Agent, session: o.Session, notes: n, seen: newSeen(n)}
}

// Session is the session's name.
func (c *Conversation) Session() string { return c.session }

// Send submits a message and returns its ID. While the agent does not answer it retries,
// until ctx ends.
func (c *Conversation) Send(ctx context.Context, text string) (string, error) {
	id := newID()
	if err := c.notes.add(id, text); err != nil {
		return "", err
	}
	// The next terminal shows the background replies from now on.
	if _, err := c.seen.begin(); err != nil {
		return "", err
	}
	err := c.send(ctx, id, text)
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		c.notes.remove(id)
	}
	return id, err
}

func (c *Conversation) send(ctx context.Context, id, text string) error {
	for {
		err := c.agent.Send(ctx, c.session, id, text)
		c.link.tried(ctx, err)
		if failed := remote.As(err); failed == nil || failed.Permanent() {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the agent does not answer: %w", err)
		case <-time.After(sendPause):
		}
	}
}

// Await waits until a message has ended and reports its events to on.
func (c *Conversation) Await(ctx context.Context, id string, on func(event.Event)) (domain.Reply, error) {
	state, err := c.agent.Follow(ctx, id, func(e event.Event) {
		c.link.set(e.Kind == event.Disconnected)
		on(e)
	})
	if err == nil || isNotFound(err) {
		c.notes.remove(id)
	}
	return state, err
}

// isNotFound reports whether the agent does not know a message.
func isNotFound(err error) bool {
	failed := remote.As(err)
	return failed != nil && failed.Status == 404 || errors.Is(err, domain.ErrNotFound)
}

// Stop stops the current turn without waiting for its end.
func (c *Conversation) Stop(ctx context.Context) error {
	return c.agent.Send(ctx, c.session, newID(), stopText)
}

// Decide approves or denies the tool call that waits under this approval ID, and
// returns the agent's answer.
func (c *Conversation) Decide(ctx context.Context, approval string, approve bool) (string, error) {
	id, text := newID(), "/deny "+approval
	if approve {
		text = "/approve " + approval
	}
	sending, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if err := c.send(sending, id, text); err != nil {
		return "", err
	}
	state, err := c.agent.Follow(ctx, id, func(event.Event) {})
	return state.Text, err
}

// Unseen returns the messages of this session whose end no terminal has shown,
// oldest first. [Conversation.Await] returns their replies.
func (c *Conversation) Unseen() ([]Note, error) { return c.notes.list() }

// newID returns an ID that sorts after the IDs made before it.
func newID() string {
	return fmt.Sprintf("cli-%x-%s", time.Now().UnixNano(), rand.Text())
}
