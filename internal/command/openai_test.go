package command

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// openAIChat is a chat of the user ana of an OpenAI client, which sends all of it with each message and
// knows no sessions.
type openAIChat struct {
	client   *openai.Client
	messages []openai.ChatCompletionMessage
	session  string // of the last answer
}

func (n *testNode) openAI(messages ...openai.ChatCompletionMessage) *openAIChat {
	settings := openai.DefaultConfig("key")
	settings.BaseURL = n.APIURL() + "/v1"
	return &openAIChat{client: openai.NewClientWithConfig(settings), messages: messages}
}

func line(role, text string) openai.ChatCompletionMessage {
	return openai.ChatCompletionMessage{Role: role, Content: text}
}

// say sends a message and returns the answer, which becomes part of the chat.
func (c *openAIChat) say(ctx context.Context, t *testing.T, text string) string {
	t.Helper()
	c.messages = append(c.messages, line("user", text))
	response, err := c.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{Model: "holdfast", User: "ana", Messages: c.messages})
	require.NoError(t, err)
	c.session = response.Header().Get("X-Holdfast-Session")
	c.messages = append(c.messages, response.Choices[0].Message)
	return response.Choices[0].Message.Content
}

// stream is say with a streamed answer.
func (c *openAIChat) stream(ctx context.Context, t *testing.T, text string) {
	t.Helper()
	c.messages = append(c.messages, line("user", text))
	stream, err := c.client.CreateChatCompletionStream(ctx, openai.ChatCompletionRequest{Model: "holdfast", User: "ana", Messages: c.messages})
	require.NoError(t, err)
	defer func() { _ = stream.Close() }()
	c.session = stream.Header().Get("X-Holdfast-Session")
	var answer strings.Builder
	for {
		chunk, err := stream.Recv()
		if err != nil {
			break
		}
		for _, choice := range chunk.Choices {
			answer.WriteString(choice.Delta.Content)
		}
	}
	c.messages = append(c.messages, line("assistant", answer.String()))
}

// shownTo is what a model is told of a conversation, without its context, and not its
// instructions.
func shownTo(r llmtest.Request) string {
	var all []string
	for _, m := range r.Messages {
		if domain.Role(m.Role) != domain.RoleSystem {
			text, _, _ := strings.Cut(m.Content.Text, "\n")
			all = append(all, text)
		}
	}
	return strings.Join(all, " | ")
}

// TestOpenAIClientsKeepTheirMemory has chats of clients that name no session, on both
// databases.
func TestOpenAIClientsKeepTheirMemory(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			slow := make(chan struct{})
			model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
				if strings.HasPrefix(r.LastUser(), "slow") {
					return llmtest.Text("at last").After(slow)
				}
				return llmtest.Text("ok")
			})
			n := startNode(t, model.URL, func(c *config.Config, _ *node.Roles) {
				if database == "postgres" {
					c.Store.DSN = config.Secret(storetest.Postgres(t))
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			last := func() llmtest.Request { return model.Requests()[model.Count()-1] }

			a, b := n.openAI(), n.openAI()
			a.say(ctx, t, "hi")
			b.say(ctx, t, "hi")
			require.NotEqual(t, a.session, b.session)
			first := a.session
			a.say(ctx, t, "my cat is Tom")
			b.stream(ctx, t, "my dog is Rex")
			require.Equal(t, "hi | ok | my dog is Rex", shownTo(last()), "two chats of a user are two")
			a.stream(ctx, t, "who is my cat?")
			require.Equal(t, first, a.session, "it continues")
			require.Equal(t, "hi | ok | my cat is Tom | ok | who is my cat?", shownTo(last()))
			b.say(ctx, t, "and my dog?")
			require.Equal(t, "hi | ok | my dog is Rex | ok | and my dog?", shownTo(last()))

			seeded := n.openAI(line("system", "Speak like a pirate."), line("user", "one"), line("assistant", "uno"), line("user", "two"), line("assistant", "due"))
			seeded.say(ctx, t, "three")
			require.Equal(t, "one | uno | two | due | three", shownTo(last()))
			require.Contains(t, last().Messages[0].Content.Text, "Speak like a pirate.")
			session := seeded.session
			seeded.messages[0].Content = "Speak like a poet."
			seeded.say(ctx, t, "four")
			require.Equal(t, session, seeded.session)
			require.Equal(t, "one | uno | two | due | three | ok | four", shownTo(last()))
			require.Contains(t, last().Messages[0].Content.Text, "Speak like a poet.")
			require.NotContains(t, last().Messages[0].Content.Text, "pirate")

			branch := n.openAI(seeded.messages[:7]...)
			branch.messages[6] = line("assistant", "something else")
			branch.say(ctx, t, "five")
			require.NotEqual(t, session, branch.session, "what was said before differs")
			require.Equal(t, "one | uno | two | due | three | something else | five", shownTo(last()))

			impatient, stop := context.WithTimeout(ctx, 500*time.Millisecond)
			defer stop()
			before := model.Count()
			waiting := n.openAI(a.messages...)
			_, err := waiting.client.CreateChatCompletion(impatient, openai.ChatCompletionRequest{
				Model: "holdfast", User: "ana", Messages: append(slices.Clip(waiting.messages), line("user", "slow")),
			})
			require.Error(t, err)
			close(slow)
			require.Equal(t, "at last", waiting.say(ctx, t, "slow"))
			require.Equal(t, first, waiting.session)
			require.Equal(t, before+1, model.Count(), "a request that is repeated after a time-out is answered once")
			waiting.say(ctx, t, "thanks")
			require.Equal(t, first, waiting.session)
			require.True(t, strings.HasSuffix(shownTo(last()), "slow | at last | thanks"), shownTo(last()))
			require.Empty(t, model.Invalid())
		})
	}
}
