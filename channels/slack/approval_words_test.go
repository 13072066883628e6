package slack_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// questions is a backend some of whose messages wait for approvals.
type questions struct {
	*channeltest.Backend
	mu      sync.Mutex
	waiting map[string][]domain.Approval // by our ID of the message
}

func (q *questions) Message(ctx context.Context, id string) (domain.Reply, error) {
	state, err := q.Backend.Message(ctx, id)
	q.mu.Lock()
	defer q.mu.Unlock()
	state.Approvals = q.waiting[id]
	return state, err
}

// ask has a message wait for an approval.
func (q *questions) ask(ts string, id, title string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	message := q.MessageID(slack.Name, generalChat, ts)
	q.waiting[message] = append(q.waiting[message], domain.Approval{ID: id, Tool: "exec", Title: title})
}

func TestAnswersBySlashCommand(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		asked := &questions{waiting: map[string][]domain.Approval{}}
		r := receive(t, mode, receivingSetup{answer: channeltest.Hold, wrap: func(b *channeltest.Backend) channels.Backend {
			asked.Backend = b
			return asked
		}})
		say := func(channel, text string) string {
			var answer struct{ Text string }
			if response := r.acked(r.Slash(slacktest.Ana, channel, "/holdfast", text)).Events[0].Response(); len(response) > 0 {
				require.NoError(t, json.Unmarshal(response, &answer))
			}
			return answer.Text
		}
		require.Equal(t, "Nothing is waiting for approval here.", say(slacktest.General, "approve"))
		require.Contains(t, say(slacktest.General, "deny "+questionID), "mention me there with `deny "+questionID+"`")
		require.Empty(t, r.backend.Accepted())

		one := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" first")).TS
		asked.ask(one, questionID, "touch <a>")
		require.Equal(t, "The answer is in its thread.", say(slacktest.General, "approve"))
		require.Equal(t, "/approve "+questionID, r.accepted(2).Text)
		require.Equal(t, one, r.accepted(2).Thread)
		require.True(t, r.accepted(2).Push)

		two := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" second")).TS
		asked.ask(two, "aaaaaaaa", "touch b")
		list := say(slacktest.General, "approve")
		require.Contains(t, list, "Which one?")
		require.Contains(t, list, "• `"+questionID+"`: `exec`: touch &lt;a&gt;")
		require.Contains(t, list, "• `aaaaaaaa`: `exec`: touch b")
		require.Equal(t, "The answer is in its thread.", say(slacktest.General, "Deny `AAAAAAAA`"))
		require.Equal(t, "/deny aaaaaaaa", r.accepted(4).Text)
		require.Equal(t, two, r.accepted(4).Thread)

		// In a direct message it is a command of the conversation.
		r.acked(r.Say(slacktest.Ana, slacktest.DM, "hi"))
		require.Empty(t, say(slacktest.DM, "approve "+questionID))
		require.Equal(t, "/approve "+questionID, r.accepted(6).Text)
		require.Equal(t, dmChat, r.accepted(6).Chat)
	})
}
