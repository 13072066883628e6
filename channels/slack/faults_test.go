package slack_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// kinds are the ways in which a message can come to be. Each prepares one.
var kinds = map[string]func(s *sending, id, thread string) domain.Outbound{
	"post": func(_ *sending, id, thread string) domain.Outbound { return outgoing(id, thread, "done "+id) },
	"draft": func(s *sending, id, thread string) domain.Outbound {
		msg := outgoing(id, thread, "done "+id)
		msg.Draft = s.draft(id, thread)
		return msg
	},
	"stream": func(s *sending, id, thread string) domain.Outbound {
		msg := outgoing(id, thread, "done "+id)
		msg.Draft = s.stream(thread)
		return msg
	},
	"file": func(_ *sending, id, thread string) domain.Outbound {
		msg := outgoing(id, thread, "done "+id)
		msg.File, msg.Content = "a.txt", []byte(id)
		return msg
	},
}

// methods are what is called to send a message, and to find it.
var methods = []string{
	"chat.postMessage", "chat.update", "chat.stopStream", "files.getUploadURLExternal", "upload", "files.completeUploadExternal",
	"conversations.replies", "auth.test",
}

// one requires that the thread has the question and exactly one answer, the message.
func (s *sending) one(msg domain.Outbound) {
	s.t.Helper()
	thread := s.Thread(slacktest.General, msg.Thread)
	require.Len(s.t, thread, 2)
	require.Equal(s.t, msg.Text, thread[1].Text)
	require.False(s.t, thread[1].Streaming)
	if msg.File != "" {
		require.Equal(s.t, msg.Content, thread[1].Files[0].Content)
		return
	}
	require.JSONEq(s.t, fmt.Sprintf(`{"id": %q}`, msg.ID), string(thread[1].Metadata.EventPayload))
}

func TestALostResponseMakesNoSecondMessage(t *testing.T) {
	t.Parallel()
	for kind, prepare := range kinds {
		for _, method := range methods {
			t.Run(kind+", "+method, func(t *testing.T) {
				t.Parallel()
				s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho())
				msg := prepare(s, "o1", s.asked())
				s.LoseResponse(method, 2)
				s.deliver(msg)
				s.one(msg)
			})
		}
	}
}

func TestFaultsAtRandomMakeNoSecondMessage(t *testing.T) {
	t.Parallel()
	for kind, prepare := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho())
			random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's
			for i := range sure {
				s.Heal()
				msg := prepare(s, fmt.Sprintf("o%d", i), s.asked())
				for range 1 + random.IntN(4) {
					s.fault(random, methods[random.IntN(len(methods))])
				}
				s.deliver(msg)
				s.one(msg)
			}
		})
	}
}

func (s *sending) fault(random *rand.Rand, method string) {
	n := 1 + random.IntN(2)
	switch random.IntN(5) {
	case 0:
		s.LoseResponse(method, n)
	case 1:
		s.Fail(method, n, slacktest.Fault{Cut: true})
	case 2:
		s.Fail(method, n, slacktest.Fault{Status: http.StatusBadGateway})
	case 3:
		s.Fail(method, n, slacktest.Fault{Error: "internal_error"})
	case 4:
		s.Fail(method, n, slacktest.Fault{Error: "invalid_auth"})
	}
}

func TestARateLimitHoldsBackOnlyWhatItIsFor(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	thread := s.asked()
	s.Fail("chat.postMessage", 1, slacktest.Fault{Status: http.StatusTooManyRequests, Error: "ratelimited", RetryAfter: time.Minute, Channel: slacktest.General})
	for range 2 {
		_, err := s.channel.Send(s.ctx, outgoing("o1", thread, "hi"))
		s.transient(err)
		require.Positive(t, remoteOf(err).RetryAfter)
		require.LessOrEqual(t, remoteOf(err).RetryAfter, time.Minute)
	}
	require.Len(t, s.Calls("chat.postMessage"), 1, "the second was not made")
	start := time.Now()
	s.send(domain.Outbound{ID: "o2", Chat: dmChat, Text: "hi"})
	msg := outgoing("o3", thread, "hi")
	msg.Draft = s.stream(thread)
	s.send(msg)
	require.Less(t, time.Since(start), soon)
}

func TestDown(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	msg := outgoing("o1", s.asked(), "done o1")
	s.Down()
	_, err := s.channel.Send(s.ctx, msg)
	s.transient(err)
	require.Zero(t, remoteOf(err).Status)
	s.Up()
	s.deliver(msg)
	s.one(msg)
}
