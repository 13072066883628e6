package slack

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// takenFor is for how long we remember what was accepted. Slack sends both events of
// a mention within a moment.
const takenFor = time.Minute

// acceptTimeout bounds one call of the backend. Slack has given up by then and
// delivers again.
const acceptTimeout = 30 * time.Second

// The kinds of what Slack delivers, as Socket Mode calls them.
const (
	kindEvent       = "events_api"
	kindInteraction = "interactive"
	kindCommand     = "slash_commands"
)

var (
	errNotReady = errors.New("slack did not tell yet who we are")
	errPanic    = errors.New("panic")
)

// receiver is one [Channel.Run].
type receiver struct {
	c     *Channel
	b     channels.Backend
	log   *slog.Logger
	lanes *lanes
	self  atomic.Pointer[Identity] // nil: not known yet
	ready chan struct{}            // closed once it is known

	taken throttle // messages that were accepted lately

	work    context.Context // of what is under way: goes on a while after Run's ends
	jobs    sync.WaitGroup  // taken from Slack
	telling errgroup.Group  // tell people things, when there is time
}

// job is what a delivery asks for.
type job struct {
	lane string // the conversation, in whose order it is done
	// do returns the payload of the acknowledgement, which may be nil. After an error
	// there is none, and Slack delivers again. A nil do is a delivery that asks for
	// nothing.
	do func(ctx context.Context) (any, error)
}

// read understands a delivery. It neither waits nor changes anything.
func (r *receiver) read(kind string, payload []byte) (j job, err error) {
	defer caught(&err)
	switch kind {
	case kindEvent:
		return r.readEvent(payload)
	case kindInteraction:
		return r.readInteraction(payload)
	case kindCommand:
		return r.readCommand(payload)
	}
	return job{}, nil
}

// perform does a job when its turn comes, unless stopped ends before.
func (r *receiver) perform(stopped context.Context, at *place, j job) (reply any, err error) {
	waited := at.do(stopped, func() { //nolint:contextcheck // what has begun goes on after stopped has ended
		defer caught(&err)
		ctx, cancel := context.WithTimeout(r.work, acceptTimeout)
		defer cancel()
		reply, err = j.do(ctx)
	})
	return reply, errors.Join(waited, err)
}

// caught makes a panic an error, so that one bad message harms no other.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
	}
}

// known returns who we are.
func (r *receiver) known() (Identity, error) {
	self := r.self.Load()
	if self == nil {
		return Identity{}, errNotReady
	}
	return *self, nil
}

func (r *receiver) readEvent(payload []byte) (job, error) {
	var d delivery
	if err := json.Unmarshal(payload, &d); err != nil {
		return job{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	switch d.Type {
	case "event_callback":
	case "url_verification":
		return job{do: func(context.Context) (any, error) { return map[string]string{"challenge": d.Challenge}, nil }}, nil
	case "app_rate_limited":
		r.log.Warn("slack holds events back: there are more than 30,000 in an hour")
		return job{}, nil
	default:
		return job{}, nil
	}
	p, ok, err := readPost(d.Event)
	if err != nil || !ok {
		return job{}, err
	}
	self, err := r.known()
	if err != nil {
		return job{}, err
	}
	if !d.isFor(self.TeamID) {
		r.log.Info("message of another workspace ignored", "team", d.TeamID, "ours", self.TeamID)
		return job{}, nil
	}
	if why := r.ignored(&p, self); why != "" {
		r.log.Debug("message ignored", "why", why, "chat", p.Channel, "ts", p.TS)
		return job{}, nil
	}
	msg := p.inbound(self)
	return job{lane: lane(msg.Chat, msg.Thread), do: func(ctx context.Context) (any, error) {
		return nil, r.take(ctx, &p, msg, self)
	}}, nil
}

// lane names a conversation.
func lane(chat, thread string) string { return chat + "/" + thread }

// ignored returns why a post is nothing to us; empty if it may be something.
func (r *receiver) ignored(p *post, self Identity) string {
	switch {
	case p.User == self.UserID || p.BotID != "" && p.BotID == self.BotID:
		return "it is our own"
	case p.isBot() && !r.c.allowsBot(p.BotID, p.AppID, p.User):
		return "it is another bot's"
	case p.Hidden:
		return "it is hidden"
	case len(p.Edited) > 0 && string(p.Edited) != "null":
		return "it is an edit"
	case p.text(self.UserID) == "" && len(p.files()) == 0 && !p.mentions(self.UserID):
		return "it is empty"
	}
	return ""
}

// take accepts a post if it is meant for us and its author may ask.
func (r *receiver) take(ctx context.Context, p *post, msg domain.Inbound, self Identity) error {
	meant, err := r.meant(ctx, p, self)
	if err != nil || !meant {
		return err
	}
	from := asker{channel: p.Channel, thread: p.ThreadTS, direct: p.isDirect(), user: msg.Sender, name: msg.SenderName, bot: p.isBot()}
	why, err := r.access(ctx, from)
	if err != nil {
		return err
	}
	if why != "" {
		r.refuse(from, why, p.mentions(self.UserID)) //nolint:contextcheck // it is told after this has ended
		return nil
	}
	return r.accept(ctx, msg)
}

// meant reports whether a post is one that we answer.
func (r *receiver) meant(ctx context.Context, p *post, self Identity) (bool, error) {
	switch {
	case p.isDirect(), p.mentions(self.UserID), r.c.o.Respond == RespondAll:
		return true, nil
	case r.c.o.Respond != RespondThread || p.ThreadTS == "":
		return false, nil
	case p.ParentUserID == self.UserID:
		return true, nil
	}
	known, err := r.b.Known(ctx, Name, chatOf(self.TeamID, p.Channel), p.ThreadTS)
	if err != nil {
		return false, fmt.Errorf("look whether the thread is known: %w", err)
	}
	return known, nil
}

// accept hands a message over, and has its answer shown at work. One whose ID was
// used for another text is dropped: to deliver it again would not help. One that was
// accepted a moment ago is not handed over again: a mention comes as two events, and
// a second signal would cost each of them a step of its workflow.
func (r *receiver) accept(ctx context.Context, msg domain.Inbound) error {
	known := fmt.Sprintf("%s/%s/%x", msg.Scope, msg.PlatformID, sha256.Sum256([]byte(msg.Text)))
	if r.taken.had(known) {
		return nil
	}
	accepted, err := r.b.Accept(ctx, msg)
	switch {
	case errors.Is(err, domain.ErrConflict):
		r.log.Warn("message came again with another text, the first one counts", "chat", msg.Chat, "id", msg.PlatformID)
		return nil
	case err != nil:
		return fmt.Errorf("accept a message: %w", err)
	}
	r.taken.first(known, takenFor)
	if !accepted.Duplicate {
		r.c.follow(r.b, accepted.Message, msg) //nolint:contextcheck // it goes on after this has ended
	}
	return nil
}
