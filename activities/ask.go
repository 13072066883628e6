package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/prompt"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/skill"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// ask makes one model call. If the conversation is too long for the model, it drops earlier
// messages, down to the running turn. If the model rejects images, it leaves them out.
func (a *Agent) ask(ctx context.Context, in protocol.CompleteInput, system string, begun domain.Step) (llm.Response, error) {
	model, err := a.modelIn(ctx, begun.Turn)
	if err != nil {
		return llm.Response{}, err
	}
	tools, err := a.toolsOf(ctx, in.Session, in.Turn)
	if err != nil {
		return llm.Response{}, err
	}
	earlier := 0
	for _, m := range begun.History {
		if m.Turn != in.Turn {
			earlier++
		}
	}
	conversation := prompt.Conversation{
		System: system, Step: begun, Turn: in.Turn, Window: min(a.Model.Window, earlier), Now: time.Now(), Images: a.images(begun.Inbound),
	}
	for {
		response, err := a.callModel(ctx, model, llm.Request{
			Messages:  prompt.Messages(conversation),
			Tools:     tools.Specs(ctx),
			MaxTokens: a.Model.MaxTokens,
		}, func(d llm.Delta) { a.show(ctx, in, d) })
		pictures := len(conversation.Images) > 0
		switch {
		case errors.Is(err, llm.ErrNoImages) && pictures, errors.Is(err, llm.ErrTooLong) && conversation.Window == 0 && pictures:
			conversation.Images, conversation.Blind = nil, true
		case errors.Is(err, llm.ErrTooLong) && conversation.Window > 0:
			conversation.Window /= 2
		default:
			return response, err
		}
		a.Logger.Info("the model rejected the conversation, retrying with less",
			"session", in.Session.Key, "turn", in.Turn, "window", conversation.Window, "pictures", !conversation.Blind, "err", err)
	}
}

// show publishes a piece of a completion.
func (a *Agent) show(ctx context.Context, in protocol.CompleteInput, d llm.Delta) {
	if d.Reset {
		a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.Reset, Step: in.Step})
	}
	if d.Text != "" {
		a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.Text, Text: d.Text, Step: in.Step})
	}
}

// callModel calls a model. The response names the provider and model that answered.
func (a *Agent) callModel(ctx context.Context, m Model, request llm.Request, on func(llm.Delta)) (llm.Response, error) {
	request.Model, request.Temperature = m.Name, a.Model.Temperature
	response, err := m.Provider.Complete(ctx, request, on)
	response.Provider, response.Asked = cmp.Or(response.Provider, m.Service), cmp.Or(response.Asked, m.Name)
	return response, err
}

// completion is the record of a response: who answered, and what it used. Costs are in
// millionths of a US dollar.
func (a *Agent) completion(response llm.Response, started time.Time) store.Completion {
	c := store.Completion{
		Provider: response.Provider, Model: response.Model, Usage: response.Usage, Cached: response.CachedTokens,
		Duration: time.Since(started),
	}
	if a.Model.Prices != nil {
		c.Cost, c.Priced = a.Model.Prices.Cost(response.Usage, response.CachedTokens, response.Provider, response.Asked, response.Model)
	}
	return c
}

// system returns the system prompt of a turn. All steps use that of the first, so that
// providers can cache it and the instructions stay the same.
func (a *Agent) system(ctx context.Context, session domain.SessionRef, begun domain.Step) (string, error) {
	if begun.Prompt != "" {
		return begun.Prompt, nil
	}
	input := prompt.Input{Workspace: a.Workspace, OS: runtime.GOOS, Arch: runtime.GOARCH}
	if session.Depth > 0 {
		return prompt.Subagent(input), nil
	}
	settings, err := a.settings(ctx, begun.Turn.ID)
	if err != nil {
		return "", err
	}
	input.Chat = settings.Prompt
	if input.Bootstrap, err = prompt.Load(a.Workspace); err != nil {
		return "", fmt.Errorf("read the workspace: %w", err)
	}
	if input.Memory, err = a.memoryPrompt(begun); err != nil {
		return "", fmt.Errorf("read the memory: %w", err)
	}
	skills, err := skill.Load(a.Workspace, a.Tools.Environment)
	if err != nil {
		return "", fmt.Errorf("read the skills: %w", err)
	}
	for _, m := range begun.Inbound {
		if m.Enriched != nil {
			input.Client = cmp.Or(m.Enriched.Instructions, input.Client)
		}
	}
	input.Active, input.Skills = skill.Active(skills), skill.Summary(a.Workspace, skills)
	return prompt.System(input), nil
}
