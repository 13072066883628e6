package slack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func TestReconnecting(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		upset func(r *receiving)
	}{
		{"refresh", func(r *receiving) { r.Disconnect(slacktest.Refresh) }},
		{"warning", func(r *receiving) { r.Disconnect(slacktest.Warning) }},
		{"dropped", func(r *receiving) { r.DropConnections() }},
		{"down for a while", func(r *receiving) {
			r.Down()
			require.NoError(r.t, r.AwaitConnections(r.ctx, 0))
			require.Eventually(r.t, func() bool { return r.log.count("no connection to slack") > 1 }, receivingDeadline, time.Millisecond)
			r.Up()
		}},
		{"no connection for now", func(r *receiving) {
			r.Fail("apps.connections.open", 2, slacktest.Fault{Error: "internal_error"})
			r.DropConnections()
		}},
		{"too many connections", func(r *receiving) {
			r.RateLimit("apps.connections.open", 1, time.Second)
			r.DropConnections()
		}},
		{"nonsense", func(r *receiving) {
			r.SendFrame(`{`)
			r.SendFrame(`{"type":"events_api"}`)
			r.SendFrame(`[]`)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := receive(t, slack.ModeSocket, receivingSetup{slack: []slacktest.Option{slacktest.RetryDelays(
				100*time.Millisecond, 500*time.Millisecond, time.Second, 2*time.Second, 4*time.Second,
			)}})
			r.acked(r.Say(slacktest.Ana, slacktest.DM, "before"))
			tt.upset(r)
			r.acked(r.Say(slacktest.Ana, slacktest.DM, "after"))
			require.Len(t, r.backend.Accepted(), 2)
			require.NoError(t, r.AwaitConnections(r.ctx, 1))
		})
	}
}

// A connection that breaks between acceptance and acknowledgement costs nothing.
func TestADroppedAcknowledgement(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{slack: []slacktest.Option{slacktest.AckTimeout(time.Second)}})
	release := r.backend.BlockAccept()
	defer release()
	d := r.Say(slacktest.Ana, slacktest.DM, "hi")
	require.NoError(t, r.Await(r.ctx, func() bool { return len(d.Events[0].Attempts()) == 1 }))
	r.DropConnections()
	release()
	r.acked(d)
	require.Len(t, r.backend.Accepted(), 1)
}

func TestASilentConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{
		slack: []slacktest.Option{slacktest.PingInterval(time.Hour)},
		tune:  func(c *slack.Channel) { c.SetPingTimeout(200 * time.Millisecond) },
	})
	require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Calls("apps.connections.open")) >= 2 }))
	r.acked(r.Say(slacktest.Ana, slacktest.DM, "hi"))
}

func TestSlackIsDownAtTheStart(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{down: true})
		require.Eventually(t, func() bool { return r.log.count(`doing="identifying with the platform"`) > 1 }, receivingDeadline, time.Millisecond)
		if mode == slack.ModeHTTP {
			body := []byte(`{"type":"event_callback","team_id":"T0TEAM","event":{"type":"message","channel":"D1","user":"U0ANA","ts":"1.2","text":"x"}}`)
			status, _ := r.post(body, slacktest.Sign(slacktest.SigningSecret, time.Now(), body))
			require.Equal(t, 503, status)
		}
		require.Empty(t, r.backend.Accepted())
		r.Up()
		r.ready()
		r.acked(r.Say(slacktest.Ana, slacktest.DM, "hi"))
	})
}

// A token that is not valid can be made valid: the channel waits for that, and says
// what is wrong.
func TestARefusedToken(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
		r := receive(t, mode, receivingSetup{down: true})
		r.Fail("auth.test", slacktest.Always, slacktest.Fault{Error: "invalid_auth"})
		r.Up()
		require.Eventually(t, func() bool { return r.log.has("the bot token is not valid") }, receivingDeadline, time.Millisecond)
		require.NoError(t, r.stop())
	}
}
