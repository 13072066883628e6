package http

import (
	"cmp"
	"context"
	"fmt"
	nethttp "net/http"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// completion is OpenAI's chat completion, or a chunk of one.
type completion struct {
	ID      string     `json:"id"`
	Object  string     `json:"object"`
	Created int64      `json:"created"`
	Model   string     `json:"model"`
	Choices []choice   `json:"choices"`
	Usage   *chatUsage `json:"usage,omitempty"`
}

type choice struct {
	Index        int     `json:"index"`
	Message      *speech `json:"message,omitempty"` // of a completion
	Delta        *speech `json:"delta,omitempty"`   // of a chunk
	FinishReason *string `json:"finish_reason"`
}

type speech struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
	// Reasoning is text that is not part of the reply. Many APIs have it, though not
	// OpenAI's: a client shows it separately or ignores it.
	Reasoning string `json:"reasoning_content,omitempty"`
}

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

func newChatUsage(u domain.Usage) *chatUsage {
	return &chatUsage{PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens, TotalTokens: u.PromptTokens + u.CompletionTokens}
}

func (c completion) whole(state domain.Reply) completion {
	c.Object = "chat.completion"
	c.Choices = []choice{{Message: &speech{Role: "assistant", Content: &state.Text}, FinishReason: new("stop")}}
	c.Usage = newChatUsage(state.Usage)
	return c
}

func (c completion) chunk(choices ...choice) completion {
	c.Object = "chat.completion.chunk"
	c.Choices = append([]choice{}, choices...)
	return c
}

// streamChat answers in chunks. An interrupted or failed turn ends with an error
// instead of a finish reason, as OpenAI's API does.
func (a *api) streamChat(ctx context.Context, w nethttp.ResponseWriter, an *answer, chat *openChat, c completion, usage bool) {
	events := newStream(w)
	if err := events.send("", c.chunk(choice{Delta: &speech{Role: "assistant", Content: new("")}})); err != nil {
		return
	}
	var sent strings.Builder
	say := func(part string) error {
		if part == "" {
			return nil
		}
		sent.WriteString(part)
		return events.send("", c.chunk(choice{Delta: &speech{Content: &part}}))
	}
	// Some clients read comments as part of an error, so an empty chunk keeps the
	// connection alive.
	keepAlive := func() error { return events.send("", c.chunk(choice{Delta: &speech{}})) }
	var text streamText
	state, err := an.await(ctx, waiting{
		on: func(e event.Event) error {
			if e.Kind == event.Approval {
				return events.send("", c.chunk(choice{Delta: &speech{Reasoning: question(e)}}))
			}
			return say(text.next(e))
		},
		every: a.options.KeepAlive, idle: keepAlive,
	})
	switch {
	case err != nil:
		err = events.send("", ErrorBody{Error: interrupted(c.ID).detail})
	case state.Status == domain.ReplyFailed:
		chat.failed(ctx)
		err = events.send("", ErrorBody{Error: turnFailed(state).detail})
	default:
		err = say(text.rest(state.Text))
		chat.answered(ctx, sent.String())
		if err == nil {
			err = events.send("", c.chunk(choice{Delta: &speech{}, FinishReason: new("stop")}))
		}
		if err == nil && usage {
			last := c.chunk()
			last.Usage = newChatUsage(state.Usage)
			err = events.send("", last)
		}
	}
	if err == nil && events.write("data: [DONE]\n\n") == nil && state.Status == domain.ReplyDone {
		chat.received(ctx)
	}
}

func turnFailed(state domain.Reply) *apiError {
	reason := cmp.Or(state.Text, "the turn ended without an answer")
	return newError(nethttp.StatusBadGateway, typeTurnFailed, "", reason)
}

// question asks for approval of a tool call.
func question(e event.Event) string {
	return fmt.Sprintf("May I run %s: %s\n%s\n", e.Tool, e.Text, channels.HowToAnswer(e.ID))
}

// paragraph separates the text of different steps.
const paragraph = "\n\n"

// streamText turns events, which may be missing or repeated, into text that only grows
// and ends with the complete reply.
type streamText struct {
	begun    bool   // text was sent
	step     int    // the step of sent and received
	sent     string // sent to the client
	received string // received from the current model call
	between  bool   // the step has called a tool: text that follows is a new paragraph
}

// next returns the text to send for an event.
func (t *streamText) next(e event.Event) string {
	switch e.Kind {
	case event.ToolStart:
		t.between = true
	case event.Reset:
		t.received = ""
	case event.Text:
		if e.Step != t.step || t.between {
			*t = streamText{begun: t.begun, step: e.Step}
		}
		t.received += e.Text
		return t.catchUp(strings.TrimLeft(t.received, " \t\r\n"))
	default: // not part of the reply
	}
	return ""
}

// rest returns the text that completes the reply.
func (t *streamText) rest(reply string) string {
	if t.between {
		*t = streamText{begun: t.begun}
	}
	if reply == "" || strings.TrimSpace(t.sent) == strings.TrimSpace(reply) {
		return ""
	}
	if strings.HasPrefix(t.sent, reply) {
		t.sent = "" // more than the reply was sent: send the reply as well
		return paragraph + reply
	}
	return t.catchUp(reply)
}

// catchUp returns the part of text that was not sent yet. A repeated model call often
// starts with the same text, which is sent once.
func (t *streamText) catchUp(text string) string {
	if strings.HasPrefix(t.sent, text) {
		return ""
	}
	more, same := strings.CutPrefix(text, t.sent)
	if (!same || t.sent == "") && t.begun {
		more = paragraph + text
	}
	t.begun, t.sent = true, text
	return more
}
