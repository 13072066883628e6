package slack

import (
	"context"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

// housekeep follows the messages that wait for their answer since before this
// process began, and removes the drafts that are left, until ctx ends. Messages are
// followed from when Slack said who we are, so that nobody else has to ask.
func (c *Channel) housekeep(ctx context.Context, b channels.Backend) {
	for {
		if _, err := c.Identify(ctx); err == nil {
			break
		}
		if !chat.Sleep(ctx, c.pace.retry) {
			return
		}
	}
	c.followers.open(ctx)
	defer c.followers.Wait()
	c.followWaiting(ctx, b)
	for {
		c.tidy(ctx, b)
		if !chat.Sleep(ctx, c.pace.sweep) {
			return
		}
	}
}

func (c *Channel) followWaiting(ctx context.Context, b channels.Backend) {
	requests, is := b.(channels.Requests)
	if !is {
		return
	}
	waiting, err := requests.Unanswered(ctx, Name)
	if err != nil {
		c.log.Debug("looking for unanswered messages failed", "channel", Name, "err", err)
		return
	}
	for _, w := range waiting {
		c.followAgain(b, w.ID, w) //nolint:contextcheck // the context is that which followers were opened with
	}
}

// tidy removes the drafts that no reply will take over. What fails is left to the
// next time.
func (c *Channel) tidy(ctx context.Context, b channels.Backend) {
	stale, err := b.StaleDrafts(ctx, Name)
	if err != nil {
		c.log.Debug("looking for stale drafts failed", "channel", Name, "err", err)
		return
	}
	for _, d := range stale {
		if err := c.discard(ctx, b, d); err != nil {
			c.log.Debug("removing a stale draft failed", "channel", Name, "message", d.Message, "err", err)
		}
	}
}

func (c *Channel) discard(ctx context.Context, b channels.Backend, d channels.Draft) error {
	channel, ts := message(d.PlatformID)
	if ts == "" {
		var err error
		channel = channelOf(d.Chat)
		around := span{channel: channel, thread: d.Thread, oldest: tsAt(d.ClaimedAt.Add(-lostFor)), latest: tsAt(d.ClaimedAt.Add(lostFor))}
		ts, err = c.findDraft(ctx, around, d.Reply, d.Thread != "")
		if err != nil && !refusedForGood[code(err)] && code(err) != "missing_scope" {
			return err
		}
	}
	if ts != "" {
		if err := c.remove(ctx, channel, ts); err != nil {
			return err
		}
	}
	return b.DropDraft(ctx, d.Message)
}

// refusedForGood are Slack's errors that say that there is nothing to remove, or
// that it will never be possible.
var refusedForGood = map[string]bool{
	"message_not_found": true, "channel_not_found": true, "thread_not_found": true, "is_archived": true,
	"not_in_channel": true, "compliance_exports_prevent_deletion": true, "is_inactive": true,
}

// remove deletes a draft. It is no error if it is not there or stays for good. A
// stream is stopped before: Slack deletes none.
func (c *Channel) remove(ctx context.Context, channel, ts string) error {
	err := c.removeOnce(ctx, channel, ts)
	if code(err) != "cant_delete_message" {
		return err
	}
	if err := c.stopStream(ctx, channel, ts); err != nil {
		return err
	}
	if err := c.removeOnce(ctx, channel, ts); code(err) != "cant_delete_message" {
		return err
	}
	return nil
}

func (c *Channel) removeOnce(ctx context.Context, channel, ts string) error {
	err := c.call(ctx, "chat.delete", channel, func(ctx context.Context) error {
		_, _, err := c.api.DeleteMessageContext(ctx, channel, ts)
		return err
	})
	if refusedForGood[code(err)] {
		return nil
	}
	return err
}
