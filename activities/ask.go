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
)

// ask makes one model call. A conversation that is too long for the model is
// shortened from its old end, down to the running turn; pictures that it does not
// take are left out.
func (a *Agent) ask(ctx context.Context, in protocol.CompleteInput, system string, begun domain.Step) (llm.Response, error) {
	model, err := a.modelOf(begun.Turn)
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
		response, err := model.Provider.Complete(ctx, llm.Request{
			Model:       model.Name,
			Messages:    prompt.Messages(conversation),
			Tools:       a.tools(in.Session).Specs(ctx),
			MaxTokens:   a.Model.MaxTokens,
			Temperature: a.Model.Temperature,
		}, func(d llm.Delta) { a.show(ctx, in, d) })
		pictures := len(conversation.Images) > 0
		switch {
		case errors.Is(err, llm.ErrNoImages) && pictures, errors.Is(err, llm.ErrTooLong) && conversation.Window == 0 && pictures:
			conversation.Images, conversation.Blind = nil, true
		case errors.Is(err, llm.ErrTooLong) && conversation.Window > 0:
			conversation.Window /= 2
		default:
			response.Provider, response.Asked = cmp.Or(response.Provider, model.Service), cmp.Or(response.Asked, model.Name)
			return response, err
		}
		a.Logger.Info("the model does not take the conversation, asking again with less",
			"session", in.Session.Key, "turn", in.Turn, "window", conversation.Window, "pictures", !conversation.Blind, "err", err)
	}
}

// show lets those who watch see a piece of a completion.
func (a *Agent) show(ctx context.Context, in protocol.CompleteInput, d llm.Delta) {
	if d.Reset {
		a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.Reset, Step: in.Step})
	}
	if d.Text != "" {
		a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.Text, Text: d.Text, Step: in.Step})
	}
}

// author is who made a completion.
type author struct {
	provider string // as configured
	model    string // as it was asked for
}

func (a *Agent) answered(response llm.Response) author {
	return author{provider: cmp.Or(response.Provider, a.Model.Service), model: cmp.Or(response.Asked, a.Model.Name)}
}

// cost is what a completion cost, in millionths of a US dollar, and whether that is
// known.
func (a *Agent) cost(response llm.Response) (int64, bool) {
	if a.Model.Prices == nil {
		return 0, false
	}
	by := a.answered(response)
	return a.Model.Prices.Cost(response.Usage, response.CachedTokens, by.provider, by.model, response.Model)
}

// system is the system prompt of a turn: that of its first step, so that a provider
// can cache it and the turn does not change its mind half way.
func (a *Agent) system(session domain.SessionRef, begun domain.Step) (string, error) {
	if begun.Prompt != "" {
		return begun.Prompt, nil
	}
	input := prompt.Input{Workspace: a.Workspace, OS: runtime.GOOS, Arch: runtime.GOARCH}
	if session.Depth > 0 {
		return prompt.Subagent(input), nil
	}
	var err error
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
	input.Active, input.Skills = skill.Active(skills), skill.Summary(a.Workspace, skills)
	return prompt.System(input), nil
}
