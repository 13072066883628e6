package activities

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/message"
)

// Outbox delivers replies to one channel. Deliver is an activity.
type Outbox struct {
	// Metrics counts deliveries; nil: nothing does. It is set before the first one.
	Metrics *metrics.Metrics

	store     *store.Store
	sender    channels.Sender
	workspace string
}

// errUnreadable reports that a file to be sent cannot be read, which is final.
var errUnreadable = errors.New("the file to be sent cannot be read")

// NewOutbox returns the deliveries of the channel that sender sends to. Files that
// are sent are in the workspace.
func NewOutbox(s *store.Store, sender channels.Sender, workspace string) *Outbox {
	return &Outbox{store: s, sender: sender, workspace: workspace}
}

// Deliver sends a reply once. The claim is durable before the post: an attempt
// that finds one without an outcome first looks whether the reply is there.
func (o *Outbox) Deliver(ctx context.Context, in protocol.DeliverInput) (protocol.DeliverResult, error) {
	live, done := startHeartbeat(ctx)
	defer done()
	out, err := o.deliver(live, in.Outbox)
	return protocol.DeliverResult{
		PlatformID: out.PlatformID, Gone: out.State == domain.OutboxFailed, Kept: out.State == domain.OutboxKept,
	}, undelivered(live, err)
}

// deliver makes one attempt to deliver a message, unless an earlier reply in the same place
// is not delivered yet, and after those that are kept for its chat.
// A turn's reply ends the turn in its chat.
func (o *Outbox) deliver(ctx context.Context, id string) (out domain.Outbound, err error) {
	defer recoverPanic(ctx, &err)
	behind, err := o.store.Behind(ctx, id)
	if err != nil {
		return out, err
	}
	if behind {
		return out, errBehind
	}
	out, err = o.claim(ctx, id)
	if err == nil && out.State == domain.OutboxPending {
		out, err = o.deliverInOrder(ctx, out)
	}
	if err == nil && out.ID == domain.OutboxID(out.Turn) {
		o.conclude(ctx, out.Turn)
	}
	return out, err
}

// errBehind is the error of an attempt that would overtake an earlier reply. It is worth
// another attempt, like that of a platform that is away.
var errBehind = &remote.Error{Service: "outbox", Err: errors.New("an earlier reply in the same place is not delivered yet")}

// deliverInOrder delivers a claimed message after those that are kept for its chat. If
// these cannot be delivered now either, it is kept, too.
func (o *Outbox) deliverInOrder(ctx context.Context, out domain.Outbound) (domain.Outbound, error) {
	kept, err := o.deliverKept(ctx, out)
	switch {
	case err != nil:
		return out, o.release(ctx, out, err)
	case kept.State == domain.OutboxKept:
		return o.keep(ctx, out, kept.Error)
	}
	return o.deliverClaimed(ctx, out)
}

func (o *Outbox) deliverClaimed(ctx context.Context, out domain.Outbound) (domain.Outbound, error) {
	draft, drafted, err := o.takeDraft(ctx, out)
	if err != nil {
		return out, err
	}
	if drafted {
		kept, err := o.keepStopped(ctx, draft)
		if err != nil {
			return out, err
		}
		if kept {
			draft = domain.Draft{}
		}
	}
	draft.Replace = draft.Replace || out.State == domain.OutboxKept // it is far above by now
	parts, rated, err := o.split(ctx, out)
	if err != nil {
		return out, fmt.Errorf("split the reply: %w", err)
	}
	if len(parts) == 0 {
		out, err = o.deliverOne(ctx, out, draft)
	} else {
		out, err = o.deliverParts(ctx, out, parts, rated, draft)
	}
	if err != nil || !drafted || out.State == domain.OutboxKept {
		return out, err
	}
	return out, o.store.DropDraft(ctx, out.Turn)
}

// MessageOutbox returns the outbox as the message tool uses it: deliveries within
// another activity.
func MessageOutbox(o *Outbox) message.Outbox {
	resolver, _ := o.sender.(channels.RecipientResolver)
	return message.Outbox{
		Resolver: resolver,
		Deliver: func(ctx context.Context, id string) (domain.OutboxState, error) {
			out, err := o.deliver(ctx, id)
			return out.State, err
		},
	}
}

func (o *Outbox) claim(ctx context.Context, id string) (domain.Outbound, error) {
	out, err := o.store.ClaimOutbox(ctx, id)
	if err != nil {
		return domain.Outbound{}, fmt.Errorf("claim the reply: %w", err)
	}
	return out, nil
}

// split returns the IDs of the parts that the reply is sent as; none if it is sent
// whole, as questions are: they are short, and each part would have the buttons. The last
// part that is no file can be rated.
func (o *Outbox) split(ctx context.Context, out domain.Outbound) (ids []string, rated int, err error) {
	splitter, ok := o.sender.(channels.Splitter)
	if !ok || out.File != "" || out.Approval != "" {
		return nil, 0, nil
	}
	parts := splitter.Split(out.Text)
	for i, part := range parts {
		if part.File == "" {
			rated = i
		}
	}
	if len(parts) > 1 || len(parts) == 1 && parts[0].File != "" {
		ids, err = o.store.SplitOutbox(ctx, out.ID, parts)
	} else if out.Claimed { // by another version of us, which may have split it
		ids, err = o.store.OutboxParts(ctx, out.ID)
	}
	return ids, rated, err
}

// deliverParts delivers the parts of a claimed reply in order, of which the one at rated can
// be rated. The reply is where its first part is, and cannot be delivered if one of them cannot.
func (o *Outbox) deliverParts(ctx context.Context, out domain.Outbound, parts []string, rated int, draft domain.Draft) (domain.Outbound, error) {
	for i, id := range parts {
		part, err := o.claim(ctx, id)
		if err != nil {
			return out, err
		}
		if part.State == domain.OutboxPending {
			part.ReplyTo, part.Ratable = out.ReplyTo, out.Ratable && i == rated
			if part, err = o.deliverOne(ctx, part, draft); err != nil {
				return out, err
			}
		}
		if part.State == domain.OutboxFailed {
			return o.failed(ctx, out, part.Error)
		}
		if part.State == domain.OutboxKept {
			return o.keep(ctx, out, part.Error)
		}
		if i == 0 {
			out.PlatformID = part.PlatformID
		}
		draft = domain.Draft{}
	}
	return o.sent(ctx, out)
}

// deliverOne posts what was claimed, and records it.
func (o *Outbox) deliverOne(ctx context.Context, out domain.Outbound, draft domain.Draft) (domain.Outbound, error) {
	failpoint.Hit("deliver.claimed")
	sent, err := o.send(ctx, out, draft)
	later := errors.Is(err, channels.ErrUndeliverableNow)
	gone := !later && (errors.Is(err, channels.ErrGone) || errors.Is(err, errUnreadable) || permanentlyRejected(err))
	o.count(out, err, gone)
	switch {
	case later:
		return o.keep(ctx, out, err.Error())
	case gone:
		return o.failed(ctx, out, err.Error())
	case refused(err):
		return out, o.release(ctx, out, err)
	case err != nil:
		return out, err
	}
	failpoint.Hit("deliver.sent")
	out.PlatformID = sent.PlatformID
	return o.sent(ctx, out)
}

func (o *Outbox) count(out domain.Outbound, err error, gone bool) {
	outcome := metrics.OK
	switch {
	case gone:
		outcome = metrics.Failed
	case err != nil:
		outcome = metrics.Retried
	}
	o.Metrics.Delivered(out.Channel, outcome)
}

func (o *Outbox) sent(ctx context.Context, out domain.Outbound) (domain.Outbound, error) {
	if err := o.store.MarkSent(ctx, out.ID, out.Fence, out.PlatformID); err != nil {
		return out, fmt.Errorf("record the delivery: %w", err)
	}
	failpoint.Hit("deliver.stored")
	out.State = domain.OutboxSent
	return out, nil
}

func (o *Outbox) failed(ctx context.Context, out domain.Outbound, reason string) (domain.Outbound, error) {
	if err := o.store.MarkFailed(ctx, out.ID, out.Fence, reason); err != nil {
		return out, fmt.Errorf("record the failed delivery: %w", err)
	}
	out.State, out.Error = domain.OutboxFailed, reason
	activity.GetLogger(ctx).Warn("message could not be delivered", "session", out.Session, "channel", out.Channel,
		"chat", out.Chat, "thread", out.Thread, "reason", reason)
	return out, nil
}

// send posts a message, unless an earlier attempt that left no word did so.
func (o *Outbox) send(ctx context.Context, out domain.Outbound, draft domain.Draft) (_ channels.Sent, err error) {
	out.Draft, out.Replace = draft.PlatformID, draft.Replace
	if finder, ok := o.sender.(channels.Finder); ok && out.Claimed && !o.recognized(out) {
		found, err := finder.Find(ctx, out)
		if err != nil || found.Posted {
			return channels.Sent{PlatformID: found.PlatformID}, err
		}
	}
	if out.File != "" {
		if out, err = o.withContent(out); err != nil {
			return channels.Sent{}, err
		}
	}
	if err := tool.Check(ctx); err != nil {
		return channels.Sent{}, err
	}
	return o.post(ctx, out)
}

// keyMargin is how long a call may take to reach the platform.
const keyMargin = 30 * time.Second

// recognized reports whether the platform still recognizes the message by its key, if an
// earlier attempt posted it.
func (o *Outbox) recognized(out domain.Outbound) bool {
	keyed, ok := o.sender.(channels.Keyed)
	return ok && time.Since(out.FirstClaimedAt) < keyed.KeyLasts()-keyMargin
}

// withContent adds the content of the file to be sent: one of the workspace, or the text.
func (o *Outbox) withContent(out domain.Outbound) (domain.Outbound, error) {
	if out.Path == "" {
		out.Text, out.Content = "", []byte(out.Text)
		return out, nil
	}
	root, err := os.OpenRoot(o.workspace)
	if err != nil {
		return out, fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	if out.Content, err = safefile.Read(root, out.Path, message.FileLimit); err != nil {
		return out, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return out, nil
}

// refused reports whether the platform rejected the post, so that the next attempt
// need not look for it.
func refused(err error) bool {
	failed := remote.As(err)
	return failed != nil && failed.Status != 0 && failed.Status < 500
}

// permanentlyRejected reports whether every other attempt would fail as well: the token
// was revoked, or the platform does not accept the message.
func permanentlyRejected(err error) bool {
	failed := remote.As(err)
	return failed != nil && failed.Permanent()
}
