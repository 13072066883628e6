package slack

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
)

// lookBack is how old what we look for can be: a delivery is tried for a day, and a
// machine may be switched off for a weekend in between.
const lookBack = 14 * 24 * time.Hour

// Find implements [channels.Finder]: it looks through the newest 1,000 messages of
// two weeks.
func (c *Channel) Find(ctx context.Context, msg channels.OutboundMessage) (channels.Found, error) {
	self, err := c.Identify(ctx)
	if err != nil {
		return channels.Found{}, err
	}
	channel := channelOf(msg.Chat)
	messages, err := c.read(ctx, span{channel: channel, thread: msg.Thread, oldest: tsAt(time.Now().Add(-lookBack))})
	switch {
	case code(err) == "thread_not_found":
		return channels.Found{}, nil
	case err != nil:
		return channels.Found{}, fmt.Errorf("look for the reply: %w", err)
	}
	var draft string
	newest := true // of ours
	for _, m := range slices.Backward(messages) {
		if !m.of(self) {
			continue
		}
		if id, found := m.file(msg.ID); found {
			return channels.Found{Posted: true, PlatformID: platformID(channel, id)}, nil
		}
		switch m.stateOf(msg.ID, newest) {
		case itself:
			return channels.Found{Posted: true, PlatformID: platformID(channel, m.TS)}, nil
		case itsDraft:
			draft = platformID(channel, m.TS)
		case unrelated:
		}
		newest = false
	}
	return channels.Found{PlatformID: draft}, nil
}

type state int

const (
	unrelated state = iota // it has to do with something else
	itsDraft               // it stands for the message
	itself                 // it is the message
)

// stateOf says what the message has to do with the one with this ID in the outbox.
// One that says nothing of that stands for it if it is still streamed, for only the
// reply that is being written is; or if it is blank, and the last that we wrote:
// Slack ended the stream.
func (p posted) stateOf(id string, newest bool) state {
	if p.Metadata.Type != replyEvent {
		if p.Streaming == "in_progress" || newest && p.isBlank() {
			return itsDraft
		}
		return unrelated
	}
	switch {
	case p.Metadata.Payload["id"] != id:
		return unrelated
	case p.isDraft():
		return itsDraft
	}
	return itself
}

// file returns Slack's ID of a file of the message that the one with this ID in the
// outbox is.
func (p posted) file(id string) (string, bool) {
	for _, f := range p.Files {
		if isTitleOf(f.Title, id) {
			return f.ID, true
		}
	}
	return "", false
}
