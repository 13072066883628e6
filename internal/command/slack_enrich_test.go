package command

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// pixel is a PNG.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestSlackThreadJoinedInTheMiddle(t *testing.T) {
	t.Parallel()
	server := slacktest.Start(t)
	model := heard(t)
	n := startSlack(t, server, model.URL, slack.ModeSocket)
	root := server.Say(slacktest.Ben, slacktest.General, "earlier 00").TS
	for i := 1; i <= 60; i++ {
		server.Say(slacktest.Ben, slacktest.General, fmt.Sprintf("earlier %02d", i), slacktest.InThread(root))
	}
	asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" what did he say?", slacktest.InThread(root))
	require.NoError(t, asked.Wait(t.Context()))
	n.replies(t, slacktest.General, root, 1)
	told := model.Requests()[0].LastUser()
	require.Equal(t, 50, strings.Count(told, "\n> earlier "))
	require.Contains(t, told, "earlier 00", "what the thread is about")
	require.Contains(t, told, "earlier 60", "what was said last")
	require.NotContains(t, told, "earlier 05")
	require.Contains(t, told, " UTC, Ben Okafor:\n> earlier 00\n")
	require.Less(t, strings.Index(told, "earlier 60"), strings.Index(told, "what did he say?"))

	follow := server.Say(slacktest.Ana, slacktest.General, "and now?", slacktest.InThread(root))
	require.NoError(t, follow.Wait(t.Context()))
	n.replies(t, slacktest.General, root, 2)
	require.NotContains(t, model.Requests()[1].LastUser(), "earlier", "it was told once")
	require.Empty(t, model.Invalid())
}

// TestSlackContextIsWaitedFor has Slack ask us to wait before it tells what was said.
func TestSlackContextIsWaitedFor(t *testing.T) {
	t.Parallel()
	server := slacktest.Start(t)
	model := heard(t)
	n := startSlack(t, server, model.URL, slack.ModeSocket)
	server.RateLimit("conversations.replies", 4, time.Second)
	root := server.Say(slacktest.Ben, slacktest.General, "what it is about").TS
	asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" what did he say?", slacktest.InThread(root))
	require.NoError(t, asked.Wait(t.Context()))
	n.replies(t, slacktest.General, root, 1)
	require.Contains(t, model.Requests()[0].LastUser(), "what it is about")
	require.NotContains(t, model.Requests()[0].LastUser(), "Not available")
}

var savedAs = regexp.MustCompile(`\[Attached: notes\.txt \([^)]*\), saved as ([^\]]+)\]`)

func TestSlackFiles(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			server := slacktest.Start(t)
			picture, err := base64.StdEncoding.DecodeString(pixel)
			require.NoError(t, err)
			model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
				switch results := resultsOfTurn(r); len(results) {
				case 0:
					path := savedAs.FindStringSubmatch(r.LastUser())
					if path == nil {
						return llmtest.Text("no file: " + r.LastUser())
					}
					return llmtest.Calls(llmtest.Call{Name: "read_file", Arguments: fmt.Sprintf(`{"path":%q}`, path[1])})
				case 1:
					return llmtest.Calls(
						llmtest.Call{ID: "a", Name: "write_file", Arguments: `{"path":"report.txt","content":"what I found"}`},
						llmtest.Call{ID: "b", Name: "message", Arguments: `{"files":["report.txt"]}`})
				default:
					return llmtest.Text("done")
				}
			})
			n := startSlack(t, server, model.URL, mode)
			asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" look at these", slacktest.WithFiles(
				slacktest.File{Name: "cat.png", Mimetype: "image/png", Content: picture},
				slacktest.File{Name: "notes.txt", Mimetype: "text/plain", Content: []byte("the secret word is marzipan\n")},
			))
			require.NoError(t, asked.Wait(t.Context()))
			said := n.replies(t, slacktest.General, asked.TS, 2)
			require.Equal(t, "done", said[1])
			n.closedCost(t, slackSession(slacktest.General, asked.TS))

			requests := model.Requests()
			require.Contains(t, requests[1].Results()[0], "marzipan")
			var images []string
			for _, m := range requests[0].Messages {
				images = append(images, m.Content.Images...)
			}
			require.Equal(t, []string{"data:image/png;base64," + pixel}, images)
			kept, err := filepath.Glob(filepath.Join(n.cfg.Workspace, "media", "*", "*"))
			require.NoError(t, err)
			require.Len(t, kept, 2)
			content, err := os.ReadFile(kept[0])
			require.NoError(t, err)
			require.Equal(t, picture, content)

			thread := server.Thread(slacktest.General, asked.TS)
			require.Len(t, thread, 3, "the question, the file, the reply")
			require.Len(t, thread[1].Files, 1)
			require.Equal(t, "report.txt", thread[1].Files[0].Name)
			require.Equal(t, "what I found", string(thread[1].Files[0].Content))
			require.Empty(t, model.Invalid())
		})
	}
}
