// Package cli is the terminal: one message and its reply, or a conversation. It
// is a client of a running agent and adds nothing to what that keeps, but for
// notes of what nobody has seen yet.
package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	defaultSession = "main"
	stopText       = "/stop"

	sendPatience = 10 * time.Second // how long an agent that is away has to come back
	sendPause    = 200 * time.Millisecond
	stopPatience = 3 * time.Second // how long a turn has to stop
)

// Agent is what a conversation asks of the running agent.
type Agent interface {
	// Send has a message accepted. Once it was, the same ID changes nothing.
	// Errors are [remote.Error]s.
	Send(ctx context.Context, session, id, text string) error
	// Follow waits until the message with this ID has ended and calls on with what
	// happens meanwhile. It returns earlier with the error of ctx, or with a
	// permanent [remote.Error] if there is no such message.
	Follow(ctx context.Context, id string, on func(event.Event)) (channels.MessageState, error)
	// Unasked returns the first replies of a session that ended after a time and that
	// nobody wrote for, oldest first.
	Unasked(ctx context.Context, session string, after time.Time) ([]channels.UnaskedReply, error)
}

// Options are the settings of a [Conversation].
type Options struct {
	Agent   Agent
	Session string // its name; empty: "main"
	Dir     string // where it keeps its notes; made when needed
}

// Conversation sends messages to one session and waits for the replies. Before a
// message is sent it is noted in a file, and the note is removed when the message
// was seen to end: what a terminal that was closed has missed can be shown by the
// next one. Safe for concurrent use.
type Conversation struct {
	agent   Agent
	session string
	notes   notes
	seen    seen
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

// Send has a message accepted and returns its ID. An agent that is away for a
// moment is waited for.
func (c *Conversation) Send(ctx context.Context, text string) (string, error) {
	id := newID()
	if err := c.notes.add(id, text); err != nil {
		return "", err
	}
	// What comes of it later, unasked, is for the next terminal.
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
	ctx, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	for {
		err := c.agent.Send(ctx, c.session, id, text)
		if failed := remote.As(err); failed == nil || failed.Permanent() {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(sendPause):
		}
	}
}

// Await waits until a message has ended and calls on with what happens
// meanwhile.
func (c *Conversation) Await(ctx context.Context, id string, on func(event.Event)) (channels.MessageState, error) {
	state, err := c.agent.Follow(ctx, id, on)
	if err == nil || isGone(err) {
		c.notes.remove(id)
	}
	return state, err
}

// Stop stops the turn that is on. It does not wait for its end.
func (c *Conversation) Stop(ctx context.Context) error {
	return c.agent.Send(ctx, c.session, newID(), stopText)
}

// Decide answers the question with this ID, whether a tool call may be run, and
// returns what the agent says to that.
func (c *Conversation) Decide(ctx context.Context, approval string, approve bool) (string, error) {
	id, text := newID(), "/deny "+approval
	if approve {
		text = "/approve " + approval
	}
	if err := c.send(ctx, id, text); err != nil {
		return "", err
	}
	state, err := c.agent.Follow(ctx, id, func(event.Event) {})
	return state.Reply, err
}

// Unseen returns the messages of this session whose end no terminal has seen,
// oldest first. [Conversation.Await] has their replies.
func (c *Conversation) Unseen() ([]Note, error) { return c.notes.list() }

// newID is later in the order of strings than those made before.
func newID() string {
	return fmt.Sprintf("cli-%x-%s", time.Now().UnixMilli(), rand.Text())
}
