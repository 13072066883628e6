package http

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	nethttp "net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Headers of the OpenAI-compatible API.
const (
	sessionHeader     = "X-Holdfast-Session" // session name, in requests and responses
	idempotencyHeader = "Idempotency-Key"    // message ID
	retryHeader       = "X-Should-Retry"     // OpenAI clients retry unless it is false
)

// chatRequest has the supported fields of a chat completion request. The agent has its
// own instructions, memory and settings, so other fields are ignored.
type chatRequest struct {
	Model         string            `json:"model"`
	Messages      []chatMessage     `json:"messages"`
	User          string            `json:"user"`
	N             *int              `json:"n"`
	Tools         []json.RawMessage `json:"tools"`
	Functions     []json.RawMessage `json:"functions"`
	Stream        bool              `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type contentPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// chatSender is the sender of chats that do not name a user.
const chatSender = "openai"

// sender returns who asks: never the operator, since OpenAI's clients are applications that
// many people may use.
func (c *chatRequest) sender() string {
	if c.User == DefaultSender {
		return chatSender
	}
	return cmp.Or(c.User, chatSender)
}

func (m *chatMessage) text() (string, error) {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text, nil
	}
	var parts []contentPart
	if json.Unmarshal(m.Content, &parts) != nil {
		return "", invalid("messages", "content must be a string or a list of parts")
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		if part.Type != "text" {
			return "", invalid("messages", "content parts of type "+part.Type+" are not supported: send only text")
		}
		texts[i] = part.Text
	}
	return strings.Join(texts, "\n"), nil
}

// anyText is text for a message that is not to be answered: what is not text is named.
func (m *chatMessage) anyText() string {
	var parts []contentPart
	if text, err := m.text(); err == nil || json.Unmarshal(m.Content, &parts) != nil {
		return text
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		if texts[i] = part.Text; part.Type != "text" {
			texts[i] = "[" + part.Type + "]"
		}
	}
	return strings.Join(texts, "\n")
}

func (c *chatRequest) check() error {
	unsupported := func(param, message string) error {
		e := invalid(param, message)
		e.detail.Code = "unsupported_parameter"
		return e
	}
	switch {
	case len(c.Tools) > 0:
		return unsupported("tools", "tools is not supported: the agent runs its own tools; leave it out")
	case len(c.Functions) > 0:
		return unsupported("functions", "functions is not supported: the agent runs its own tools; leave it out")
	case c.N != nil && *c.N != 1:
		return unsupported("n", "n must be 1: the agent gives one answer")
	}
	return nil
}

// postChat implements OpenAI's chat completions. Without a session name it finds the session
// by what was said before.
func (a *api) postChat(w nethttp.ResponseWriter, r *nethttp.Request) error {
	var request chatRequest
	if err := a.decode(w, r, &request, false); err != nil {
		return err
	}
	if err := request.check(); err != nil {
		return err
	}
	conv, err := request.conversation()
	if err != nil {
		return err
	}
	if err := a.checkText("messages", conv.text); err != nil {
		return err
	}
	key, name := r.Header.Get(idempotencyHeader), r.Header.Get(sessionHeader)
	msg := domain.Inbound{
		Channel: Name, PlatformID: cmp.Or(key, rand.Text()), Sender: conv.sender, Text: conv.text, Queue: true,
	}
	if conv.system != "" {
		msg.Enriched = &domain.Enriched{Text: conv.text, Instructions: conv.system}
	}
	chat, err := a.open(r.Context(), conv, &msg, key, name)
	if err != nil {
		return err
	}
	if key == "" && chat.request == "" { // a repetition would be another message
		w.Header().Set(retryHeader, "false")
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	answer, err := a.ask(ctx, msg)
	if err != nil {
		w.Header().Del(retryHeader)
		return err
	}
	w.Header().Set(sessionHeader, msg.Chat)
	completion := completion{ID: msg.PlatformID, Created: time.Now().Unix(), Model: cmp.Or(request.Model, modelName)}
	if request.Stream {
		a.streamChat(ctx, w, answer, chat, completion, request.StreamOptions.IncludeUsage)
		return nil
	}
	state, err := answer.await(ctx, waiting{})
	if err != nil {
		return interrupted(msg.PlatformID)
	}
	if state.Status == domain.ReplyFailed {
		chat.failed(ctx)
		w.Header().Set(retryHeader, "false")
		return turnFailed(state)
	}
	chat.answered(ctx, state.Text)
	writeJSON(w, nethttp.StatusOK, completion.whole(state))
	chat.received(ctx)
	return nil
}

// modelName is the only model of the API: the agent.
const modelName = "holdfast"

func (a *api) getModels(w nethttp.ResponseWriter, _ *nethttp.Request) error {
	model := map[string]any{"id": modelName, "object": "model", "created": 0, "owned_by": "holdfast"}
	writeJSON(w, nethttp.StatusOK, map[string]any{"object": "list", "data": []any{model}})
	return nil
}
