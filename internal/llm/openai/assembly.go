package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/think"
)

// assembly assembles a response from the events of a stream.
type assembly struct {
	on        func(llm.Delta)
	filter    think.Filter
	text      strings.Builder
	reasoning strings.Builder
	calls     []*partialCall
	byIndex   map[int]*partialCall
	finish    string
	usage     usage
	model     string
}

type partialCall struct {
	id, name  string
	arguments strings.Builder
}

func (a *assembly) add(c answer) {
	a.model = cmp.Or(c.Model, a.model)
	if c.Usage != nil {
		a.usage = *c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		a.addDelta(choice.Delta)
		a.addDelta(choice.Message)
		a.finish = cmp.Or(string(choice.FinishReason), a.finish)
	}
}

func (a *assembly) addDelta(d delta) {
	a.emit("", cmp.Or(d.ReasoningContent, d.Reasoning, d.Content.thinking))
	if text := cmp.Or(d.Content.text, d.Refusal); text != "" {
		a.emit(a.filter.Write(text))
	}
	for _, call := range d.ToolCalls {
		a.addCall(call)
	}
}

func (a *assembly) emit(text, reasoning string) {
	if text == "" && reasoning == "" {
		return
	}
	a.text.WriteString(text)
	a.reasoning.WriteString(reasoning)
	a.on(llm.Delta{Text: text, Reasoning: reasoning})
}

// addCall adds a piece of a tool call to its call. Some providers number the calls,
// some give all the same number, some none.
func (a *assembly) addCall(piece toolCall) {
	var call *partialCall
	if piece.Index != nil {
		call = a.byIndex[*piece.Index]
	} else if len(a.calls) > 0 {
		call = a.calls[len(a.calls)-1]
	}
	if call == nil || call.endsBefore(piece) {
		call = &partialCall{}
		a.calls = append(a.calls, call)
		if piece.Index != nil {
			if a.byIndex == nil {
				a.byIndex = map[int]*partialCall{}
			}
			a.byIndex[*piece.Index] = call
		}
	}
	call.id = cmp.Or(call.id, piece.ID)
	call.name = cmp.Or(call.name, piece.Function.Name)
	call.arguments.WriteString(string(piece.Function.Arguments))
}

// endsBefore reports whether piece starts another call. Only a piece with a name
// can; some providers repeat name and ID in every piece.
func (p *partialCall) endsBefore(piece toolCall) bool {
	name := piece.Function.Name
	switch {
	case name == "" || p.name == "":
		return false
	case piece.ID != "" && p.id != "":
		return piece.ID != p.id
	case name != p.name:
		return true
	}
	return piece.Function.Arguments != "" && json.Valid([]byte(p.arguments.String()))
}

// response returns the completion after the last event. Call it once.
func (a *assembly) response() (llm.Response, error) {
	a.emit(a.filter.Close())
	resp := llm.Response{
		Content:      a.text.String(),
		Reasoning:    a.reasoning.String(),
		ToolCalls:    a.toolCalls(),
		FinishReason: cmp.Or(a.finish, "stop"),
		Usage:        domain.Usage{PromptTokens: a.usage.PromptTokens, CompletionTokens: a.usage.CompletionTokens},
		CachedTokens: a.usage.cached(),
		Model:        a.model,
	}
	if strings.TrimSpace(resp.Content) == "" && len(resp.ToolCalls) == 0 {
		return llm.Response{}, fmt.Errorf("%w (finish reason %q)", errEmpty, resp.FinishReason)
	}
	return resp, nil
}

var errEmpty = errors.New("the model's answer is empty")

func (a *assembly) toolCalls() []domain.ToolCall {
	var calls []domain.ToolCall
	seen := map[string]bool{}
	for _, p := range a.calls {
		if p.name == "" && p.arguments.Len() == 0 {
			continue
		}
		id := p.id
		for n := len(calls) + 1; id == "" || seen[id]; n++ {
			id = fmt.Sprintf("call_%d", n)
		}
		seen[id] = true
		calls = append(calls, domain.ToolCall{
			ID:        id,
			Name:      cmp.Or(p.name, "unknown"),
			Arguments: repairArguments(p.arguments.String()),
		})
	}
	return calls
}
