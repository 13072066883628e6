package http

import (
	"context"
	"fmt"
	nethttp "net/http"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// completion is OpenAI's chat completion, whole or a chunk of one.
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
	Message      *speech `json:"message,omitempty"` // of a whole one
	Delta        *speech `json:"delta,omitempty"`   // of a chunk
	FinishReason *string `json:"finish_reason"`
}

type speech struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
	// Reasoning is what is said besides the reply. It is not in OpenAI's API but in
	// that of many others: a client shows it apart, or ignores it.
	Reasoning string `json:"reasoning_content,omitempty"`
}

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

func newChatUsage(u channels.Usage) *chatUsage {
	return &chatUsage{PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens, TotalTokens: u.PromptTokens + u.CompletionTokens}
}

func (c completion) whole(state channels.MessageState) completion {
	c.Object = "chat.completion"
	c.Choices = []choice{{Message: &speech{Role: "assistant", Content: &state.Reply}, FinishReason: new("stop")}}
	c.Usage = newChatUsage(state.Usage)
	return c
}

func (c completion) chunk(choices ...choice) completion {
	c.Object = "chat.completion.chunk"
	c.Choices = append([]choice{}, choices...)
	return c
}

// streamChat answers in chunks. What cannot go on ends with an error in place of
// the finish reason, as OpenAI's does.
func (a *api) streamChat(ctx context.Context, w nethttp.ResponseWriter, an *answer, c completion, known, usage bool) {
	events := newStream(w)
	if err := events.send("", c.chunk(choice{Delta: &speech{Role: "assistant", Content: new("")}})); err != nil {
		return
	}
	say := func(text string) error {
		if text == "" {
			return nil
		}
		return events.send("", c.chunk(choice{Delta: &speech{Content: &text}}))
	}
	// Some clients take comments for parts of an error, so a chunk that says
	// nothing keeps the connection alive.
	keepAlive := func() error { return events.send("", c.chunk(choice{Delta: &speech{}})) }
	var told telling
	state, err := an.await(ctx, waiting{
		known: known,
		on: func(e event.Event) error {
			if e.Kind == event.Approval {
				return events.send("", c.chunk(choice{Delta: &speech{Reasoning: question(e)}}))
			}
			return say(told.next(e))
		},
		every: a.options.KeepAlive, idle: keepAlive,
	})
	switch {
	case err != nil:
		err = events.send("", ErrorBody{Error: interrupted(c.ID).detail})
	case state.Status == channels.Failed:
		err = events.send("", ErrorBody{Error: turnFailed(state).detail})
	default:
		err = say(told.rest(state.Reply))
		if err == nil {
			err = events.send("", c.chunk(choice{Delta: &speech{}, FinishReason: new("stop")}))
		}
		if err == nil && usage {
			last := c.chunk()
			last.Usage = newChatUsage(state.Usage)
			err = events.send("", last)
		}
	}
	if err == nil {
		_ = events.write("data: [DONE]\n\n")
	}
}

// question is what a person is asked who has to approve a call.
func question(e event.Event) string {
	return fmt.Sprintf("May I run %s: %s\n%s\n", e.Tool, e.Text, channels.HowToAnswer(e.ID))
}

// paragraph separates what is told of different steps.
const paragraph = "\n\n"

// telling turns events, which may be missed or made anew, into a text that only
// grows and ends with the whole reply.
type telling struct {
	begun   bool   // something was told
	step    int    // whose text said and heard are
	said    string // what was told of the step
	heard   string // what its model call said so far
	between bool   // the step has called a tool: what follows is a new paragraph
}

// next returns what to tell of an event.
func (t *telling) next(e event.Event) string {
	switch e.Kind {
	case event.ToolStart:
		t.between = true
	case event.Reset:
		t.heard = ""
	case event.Text:
		if e.Step != t.step || t.between {
			*t = telling{begun: t.begun, step: e.Step}
		}
		t.heard += e.Text
		return t.catchUp(strings.TrimLeft(t.heard, " \t\r\n"))
	default: // says nothing of the reply
	}
	return ""
}

// rest returns what is missing of the reply.
func (t *telling) rest(reply string) string {
	if t.between {
		*t = telling{begun: t.begun}
	}
	if reply == "" || strings.TrimSpace(t.said) == strings.TrimSpace(reply) {
		return ""
	}
	if strings.HasPrefix(t.said, reply) {
		t.said = "" // a longer text was told than is true: the reply has to follow
		return paragraph + reply
	}
	return t.catchUp(reply)
}

// catchUp returns what of text was not told yet. A model call that was made
// anew often says the same again, which is told once.
func (t *telling) catchUp(text string) string {
	if strings.HasPrefix(t.said, text) {
		return ""
	}
	more, same := strings.CutPrefix(text, t.said)
	if (!same || t.said == "") && t.begun {
		more = paragraph + text
	}
	t.begun, t.said = true, text
	return more
}
