package slack_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// sending is a channel that sends to a Slack for tests.
type sending struct {
	*slacktest.Server
	t       *testing.T
	ctx     context.Context
	channel *slack.Channel
}

func sendingTo(t *testing.T, o slack.Options, options ...slacktest.Option) *sending {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), receivingDeadline)
	t.Cleanup(cancel)
	s := &sending{Server: slacktest.Start(t, options...), t: t, ctx: ctx}
	o.BotToken, o.APIURL = slacktest.BotToken, s.APIURL()
	if o.FileLimit == 0 {
		o.FileLimit = 1 << 20
	}
	if o.Respond == "" {
		o.Respond = chat.RespondMention
	}
	channel, err := slack.New(o)
	require.NoError(t, err)
	s.channel = channel
	return s
}

// asked posts a question by Ana in a channel and returns its ts.
func (s *sending) asked() string {
	return s.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" do something").TS
}

func (s *sending) send(msg domain.Outbound) string {
	s.t.Helper()
	sent, err := s.channel.Send(s.ctx, msg)
	require.NoError(s.t, err)
	return sent.PlatformID
}

// outgoing is a reply in a thread of the channel that all are in.
func outgoing(id, thread, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: slack.Name, Chat: generalChat, Thread: thread, Text: text}
}

// deliver sends a message as Deliver does: after an attempt that left no word it
// looks for the message first, and it tries again until it is there.
func (s *sending) deliver(msg domain.Outbound) {
	s.t.Helper()
	for claimed := false; ; {
		require.NoError(s.t, s.ctx.Err())
		if claimed {
			found, err := s.channel.Find(s.ctx, msg)
			if err != nil {
				s.transient(err)
				continue
			}
			if found.Posted {
				return
			}
		}
		claimed = true
		err := s.placed(&msg)
		if err == nil {
			_, err = s.channel.Send(s.ctx, msg)
		}
		if err == nil {
			return
		}
		if errors.Is(err, channels.ErrNoDraft) {
			msg.PlatformID, msg.Draft = "", ""
			continue
		}
		s.transient(err)
		if failed := remote.As(err); failed.Status != 0 && failed.Status < 500 {
			claimed = false
		}
	}
}

// placed records the placeholder of a message that needs one.
func (s *sending) placed(msg *domain.Outbound) error {
	if msg.PlatformID != "" {
		return nil
	}
	id, err := s.channel.Placeholder(s.ctx, *msg)
	if err == nil && id != "" {
		msg.PlatformID, msg.Draft = id, id
	}
	return err
}

func (s *sending) transient(err error) {
	s.t.Helper()
	failed := remote.As(err)
	require.NotNil(s.t, failed, "not a remote.Error: %v", err)
	require.False(s.t, failed.Permanent(), "%v", err)
	require.False(s.t, errors.Is(err, channels.ErrGone))
}

// draft posts what stands for a reply.
func (s *sending) draft(reply, thread string) string {
	s.t.Helper()
	ts, err := slack.PostDraft(s.ctx, s.channel, slacktest.General, thread, reply)
	require.NoError(s.t, err)
	return ts
}

// stream begins a stream that stands for a reply.
func (s *sending) stream(thread string) string {
	s.t.Helper()
	ts, err := slack.StartStream(s.ctx, s.channel, slacktest.General, thread, slacktest.Ana, slacktest.Team)
	require.NoError(s.t, err)
	return ts
}

// sure is how often each kind of message has to survive faults at random.
const sure = 25

// soon is more than anything here takes, and less than anybody waits for.
const soon = 10 * time.Second
