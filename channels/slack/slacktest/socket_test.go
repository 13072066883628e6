package slacktest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func TestAMentionIsAnsweredInItsThread(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	socket, _ := connect(t, s)
	said := s.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hello")

	var names []string
	for range 2 {
		e := next(t, socket, socketmode.EventTypeEventsAPI)
		event := e.Data.(slackevents.EventsAPIEvent)
		names = append(names, event.InnerEvent.Type)
		if mention, is := event.InnerEvent.Data.(*slackevents.AppMentionEvent); is {
			require.Equal(t, said.TS, mention.TimeStamp)
			require.Equal(t, slacktest.Ana, mention.User)
		}
		require.NoError(t, socket.Ack(*e.Request))
	}
	require.Equal(t, []string{"message", "app_mention"}, names)
	require.NoError(t, said.Wait(bounded(t)))
	require.NotEqual(t, said.Events[0].ID, said.Events[1].ID)
	require.Len(t, said.Event("app_mention").Attempts(), 1)

	api := client(s)
	_, ts, err := api.PostMessage(slacktest.General, slack.MsgOptionText("hi", false), slack.MsgOptionTS(said.TS),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "reply", EventPayload: map[string]any{"id": "o1"}}))
	require.NoError(t, err)
	for _, include := range []bool{true, false} {
		messages, _, _, err := api.GetConversationReplies(&slack.GetConversationRepliesParameters{
			ChannelID: slacktest.General, Timestamp: said.TS, IncludeAllMetadata: include,
		})
		require.NoError(t, err)
		require.Len(t, messages, 2)
		require.Equal(t, ts, messages[1].Timestamp)
		require.Equal(t, include, messages[1].Metadata.EventPayload["id"] == "o1")
	}
	require.Len(t, s.Thread(slacktest.General, said.TS), 2)
}

func TestUnacknowledgedEventsAreRedelivered(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t, slacktest.AckTimeout(50*time.Millisecond), slacktest.RetryDelays(time.Millisecond, time.Millisecond, time.Millisecond))
	socket, _ := connect(t, s)
	said := s.Say(slacktest.Ana, slacktest.DM, "hello")

	ids := map[string]bool{}
	for attempt := range 4 {
		e := next(t, socket, socketmode.EventTypeEventsAPI)
		require.Equal(t, attempt, e.Request.RetryAttempt)
		require.Equal(t, attempt > 0, e.Request.RetryReason == "timeout")
		ids[eventID(e)] = true
	}
	require.ErrorIs(t, said.Wait(bounded(t)), slacktest.ErrNotAcknowledged)
	require.Len(t, ids, 1, "the event ID stays the same")
	require.Len(t, said.Events[0].Attempts(), 4)
}

func TestAcknowledgedEventCanBeRedelivered(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	socket, _ := connect(t, s)
	said := s.Say(slacktest.Ana, slacktest.DM, "hello")
	var ids []string
	for attempt, d := range []func() slacktest.Delivery{
		func() slacktest.Delivery { return said },
		func() slacktest.Delivery { return s.Redeliver(said.Events[0].ID) },
	} {
		delivery := d()
		e := next(t, socket, socketmode.EventTypeEventsAPI)
		require.Equal(t, attempt, e.Request.RetryAttempt)
		ids = append(ids, eventID(e))
		require.NoError(t, socket.Ack(*e.Request))
		require.NoError(t, delivery.Wait(bounded(t)))
	}
	require.Equal(t, ids[0], ids[1])
	require.Len(t, s.Events("message"), 2)
}

func TestALateAcknowledgementDoesNotCount(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t, slacktest.AckTimeout(20*time.Millisecond), slacktest.RetryDelays())
	socket, _ := connect(t, s)
	said := s.Say(slacktest.Ana, slacktest.DM, "hello")
	e := next(t, socket, socketmode.EventTypeEventsAPI)
	require.ErrorIs(t, said.Wait(bounded(t)), slacktest.ErrNotAcknowledged)
	require.NoError(t, socket.Ack(*e.Request))
	require.NoError(t, s.Await(bounded(t), func() bool { return said.Events[0].Attempts()[0].Late > 0 }))
	require.False(t, said.Events[0].Acked())
}

func TestAnEnvelopeGoesToOneConnection(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	a, _ := connect(t, s)
	b, _ := connect(t, s)
	const n = 20
	var said []slacktest.Delivery
	for range n {
		said = append(said, s.Say(slacktest.Ana, slacktest.DM, "hello"))
	}
	got := make(chan string, 2*n)
	for _, c := range []*socketmode.Client{a, b} {
		go func() {
			for {
				select {
				case e := <-c.Events:
					if e.Type == socketmode.EventTypeEventsAPI {
						got <- eventID(e)
						_ = c.Ack(*e.Request)
					}
				case <-t.Context().Done():
					return
				}
			}
		}()
	}
	connections := map[int]bool{}
	for _, d := range said {
		require.NoError(t, d.Wait(bounded(t)))
		attempts := d.Events[0].Attempts()
		require.Len(t, attempts, 1)
		connections[attempts[0].Connection] = true
	}
	require.Len(t, got, n)
	require.Len(t, connections, 2, "both got some")
}

func TestEnvelopesOfADroppedConnectionAreResent(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	first, stop := connect(t, s)
	said := s.Say(slacktest.Ana, slacktest.DM, "hello")
	next(t, first, socketmode.EventTypeEventsAPI)
	stop()
	require.NoError(t, s.AwaitConnections(bounded(t), 0))

	second, _ := connect(t, s)
	e := next(t, second, socketmode.EventTypeEventsAPI)
	require.Equal(t, 1, e.Request.RetryAttempt)
	require.NoError(t, second.Ack(*e.Request))
	require.NoError(t, said.Wait(bounded(t)))
	require.Equal(t, "connection_lost", said.Events[0].Attempts()[0].Failure)
}

func TestConnectionsAreReopened(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*slacktest.Server){
		"refresh": func(s *slacktest.Server) { s.Disconnect(slacktest.Refresh) },
		"warning": func(s *slacktest.Server) { s.Disconnect(slacktest.Warning) },
		"cut":     (*slacktest.Server).DropConnections,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := slacktest.Start(t)
			socket, _ := connect(t, s)
			hello := next(t, socket, socketmode.EventTypeHello)
			require.Equal(t, 1, hello.Request.NumConnections)
			require.Equal(t, slacktest.App, hello.Request.ConnectionInfo.AppID)
			require.Positive(t, hello.Request.DebugInfo.ApproximateConnectionTime)

			end(s)
			next(t, socket, socketmode.EventTypeHello)
			require.NoError(t, s.AwaitConnections(bounded(t), 1))
			said := s.Say(slacktest.Ana, slacktest.DM, "hello")
			e := next(t, socket, socketmode.EventTypeEventsAPI)
			require.NoError(t, socket.Ack(*e.Request))
			require.NoError(t, said.Wait(bounded(t)))
		})
	}
}

func TestEventsWaitForAConnectionAndKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	const n = 20
	var want, got []string
	for range n {
		want = append(want, s.Say(slacktest.Ana, slacktest.DM, "hello").Events[0].ID)
	}
	socket, _ := connect(t, s)
	for i := range n {
		e := next(t, socket, socketmode.EventTypeEventsAPI)
		got = append(got, eventID(e))
		require.NoError(t, socket.Ack(*e.Request))
		require.Positive(t, e.Request.RetryAttempt, "event %d has missed its first delivery", i)
	}
	require.Equal(t, want, got)
}

func TestCommandsAndClicksAreNotRetried(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t, slacktest.AckTimeout(300*time.Millisecond))
	typed := s.Slash(slacktest.Ana, slacktest.General, "/holdfast", "status")
	require.ErrorIs(t, typed.Wait(bounded(t)), slacktest.ErrNotAcknowledged)
	require.Empty(t, typed.Events[0].Attempts(), "nobody was there")

	socket, _ := connect(t, s)
	typed = s.Slash(slacktest.Ana, slacktest.General, "/holdfast", "status")
	e := next(t, socket, socketmode.EventTypeSlashCommand)
	require.Equal(t, "status", e.Data.(slack.SlashCommand).Text)
	require.ErrorIs(t, typed.Wait(bounded(t)), slacktest.ErrNotAcknowledged)
	require.Len(t, typed.Events[0].Attempts(), 1)
}

func TestAnOversizedAcknowledgementIsIgnored(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t, slacktest.AckTimeout(300*time.Millisecond), slacktest.RetryDelays())
	conn := dial(t, s)
	said := s.Slash(slacktest.Ana, slacktest.General, "/holdfast", "")
	var frame struct {
		EnvelopeID string `json:"envelope_id"`
	}
	require.NoError(t, conn.ReadJSON(&frame))
	require.NoError(t, conn.WriteJSON(map[string]any{"envelope_id": frame.EnvelopeID, "payload": strings.Repeat("x", 20*1024)}))
	require.ErrorIs(t, said.Wait(bounded(t)), slacktest.ErrNotAcknowledged)
}

func TestConnectionsArePinged(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t, slacktest.PingInterval(time.Millisecond))
	conn := dial(t, s)
	pings := make(chan string, 10)
	conn.SetPingHandler(func(text string) error {
		select {
		case pings <- text:
		default:
		}
		return nil
	})
	go func() { _, _, _ = conn.ReadMessage() }()
	for range 3 {
		select {
		case text := <-pings:
			require.Contains(t, text, "Ping from")
		case <-bounded(t).Done():
			require.FailNow(t, "no ping")
		}
	}
}

func TestTicketIsValidForOneConnection(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	_, address, err := client(s).StartSocketModeContext(t.Context())
	require.NoError(t, err)
	conn, _, err := websocket.DefaultDialer.DialContext(t.Context(), address, nil)
	require.NoError(t, err)
	defer conn.Close()
	_, _, err = websocket.DefaultDialer.DialContext(t.Context(), address, nil)
	require.Error(t, err)
}

func eventID(e socketmode.Event) string {
	return e.Data.(slackevents.EventsAPIEvent).Data.(*slackevents.EventsAPICallbackEvent).EventID
}

// dial opens a raw connection and reads its hello.
func dial(t *testing.T, s *slacktest.Server) *websocket.Conn {
	t.Helper()
	_, address, err := client(s).StartSocketModeContext(t.Context())
	require.NoError(t, err)
	conn, _, err := websocket.DefaultDialer.DialContext(t.Context(), address, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	var hello map[string]any
	require.NoError(t, conn.ReadJSON(&hello))
	require.Equal(t, "hello", hello["type"])
	require.NoError(t, s.AwaitConnections(bounded(t), 1))
	return conn
}
