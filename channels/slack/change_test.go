package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func TestAnEditedRequestRunsAnew(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{answer: channeltest.Hold})
		root := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" count to tne")).TS
		d := r.acked(r.Edit(slacktest.General, root, slacktest.Mention+" count to ten"))
		r.acked(r.Redeliver(d.Events[0].ID))
		stop, again := r.accepted(2), r.accepted(3)
		require.Len(t, r.backend.Accepted(), 3)
		require.Equal(t, "/stop", stop.Text)
		require.False(t, stop.Push, "nobody asked for an answer to it")
		require.Equal(t, root, stop.Thread)
		require.Equal(t, "count to ten", again.Text)
		require.Equal(t, root, again.Thread)
		require.True(t, again.Push)
		require.NotEqual(t, r.accepted(1).PlatformID, again.PlatformID)
	})
}

func TestADeletedRequestIsStopped(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{answer: channeltest.Hold})
	ts := r.acked(r.Say(slacktest.Ana, slacktest.DM, "count to ten")).TS
	r.acked(r.Delete(slacktest.DM, ts))
	require.Equal(t, "/stop", r.accepted(2).Text)
	require.Empty(t, r.accepted(2).Thread)
	require.Len(t, r.backend.Accepted(), 2)
}

// Stopping would concern the other request, too.
func TestAChangeOfOneOfSeveralRequests(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{answer: channeltest.Hold})
	one := r.acked(r.Say(slacktest.Ana, slacktest.DM, "one")).TS
	two := r.acked(r.Say(slacktest.Ana, slacktest.DM, "two")).TS
	r.acked(r.Edit(slacktest.DM, one, "three"))
	require.Equal(t, "I changed my message \"one\" to:\nthree", r.accepted(3).Text)
	r.acked(r.Delete(slacktest.DM, two))
	require.Equal(t, "I deleted my message \"two\": disregard it.", r.accepted(4).Text)
}

func TestChangesWithoutEffect(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{slack: hasty})
	answered := r.acked(r.Say(slacktest.Ana, slacktest.DM, "done")).TS
	r.acked(r.Edit(slacktest.DM, answered, "done?"))
	ignored := r.acked(r.Say(slacktest.Ben, slacktest.General, "not for you")).TS
	r.acked(r.Edit(slacktest.General, ignored, slacktest.Mention+" for you"))
	r.acked(r.Delete(slacktest.General, ignored))
	r.acked(r.SendEvent(map[string]any{"type": "message", "subtype": "message_changed", "channel": slacktest.DM}))
	require.Len(t, r.backend.Accepted(), 1)
	require.ErrorIs(t, r.SendEvent(map[string]any{
		"type": "message", "subtype": "message_changed", "message": map[string]any{"user": slacktest.Ana, "text": "x", "ts": ts(1)},
	}).Wait(r.ctx), slacktest.ErrNotAcknowledged)
}
