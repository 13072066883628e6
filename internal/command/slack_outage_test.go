package command

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// outage is how long something is away in a test: a moment, or as the environment
// says (a duration).
func outage(t testing.TB, usual time.Duration) time.Duration {
	t.Helper()
	given := os.Getenv("HOLDFAST_TEST_OUTAGE")
	if given == "" {
		return usual
	}
	d, err := time.ParseDuration(given)
	require.NoError(t, err)
	return d
}

// TestSlackIsAway has Slack unreachable before, while and after turns run.
func TestSlackIsAway(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			server := slacktest.Start(t)
			hold := make(chan struct{})
			model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step { return llmtest.Text("heard: " + topic(r)).After(hold) })
			n := startSlack(t, server, model.URL, mode)
			var asked []slacktest.Delivery
			for i := range 5 {
				said := server.Say(slacktest.Ana, slacktest.General, fmt.Sprintf("%s m%d", slacktest.Mention, i))
				require.NoError(t, said.Wait(t.Context()))
				asked = append(asked, said)
			}
			require.NoError(t, model.Await(t.Context(), 1))
			server.Down()
			close(hold)
			away := time.NewTimer(outage(t, 3*time.Second))
			<-away.C
			server.Up()
			for i, said := range asked {
				require.Equal(t, []string{fmt.Sprintf("heard: m%d", i)}, n.replies(t, slacktest.General, said.TS, 1))
			}
			again := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" are you there")
			n.replies(t, slacktest.General, again.TS, 1)
			for i, said := range asked {
				awaitRest(t, n.client, slackSession(slacktest.General, said.TS))
				requireOnly(t, server, slacktest.General, said.TS, fmt.Sprintf("heard: m%d", i))
			}
			require.Empty(t, model.Invalid())
		})
	}
}
