package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// nameLimitOfModel bounds, in bytes, the name of a model that a session is told to
// use: it goes into payloads.
const nameLimitOfModel = 200

// defaultModel is what a user says to have the configured model again.
const defaultModel = "default"

// Model is a model that may answer.
type Model struct {
	Provider llm.Provider
	Service  string // the provider's name, as configured
	Name     string // as the provider names it
}

// Title is the model as a user names it.
func (m Model) Title() string { return m.Service + "/" + m.Name }

// configured is the model that answers unless a session has chosen another.
func (a *Agent) configured() Model {
	return Model{Provider: a.Model.Provider, Service: a.Model.Service, Name: a.Model.Name}
}

// modelOf returns the model that answers in a turn.
func (a *Agent) modelOf(turn domain.Turn) (Model, error) {
	if turn.Model == "" {
		return a.configured(), nil
	}
	m, err := a.open(turn.Model)
	if err != nil {
		return Model{}, fmt.Errorf("%w: %s: %w", errModel, turn.Model, err)
	}
	return m, nil
}

func (a *Agent) open(name string) (Model, error) {
	if a.Model.Open == nil {
		return Model{}, errors.New("only the configured model is available")
	}
	return a.Model.Open(name)
}

// chooseModel answers /model: it says which model answers or, with a name, has
// another one answer, which is then not nil.
func (a *Agent) chooseModel(ctx context.Context, in protocol.AnswerInput) (reply string, model *string, err error) {
	asked, err := a.Store.Inbound(ctx, in.Message)
	if err != nil {
		return "", nil, err
	}
	_, arguments := domain.ParseCommand(asked.Text)
	name := strings.Trim(arguments, "`\"'")
	switch {
	case name == "":
		reply, err = a.whichModel(ctx, in.Session.Key)
		return reply, nil, err
	case strings.EqualFold(name, defaultModel):
		return fmt.Sprintf("`%s`, the configured model, answers from the next request on.", a.configured().Title()), new(string), nil
	case len(name) > nameLimitOfModel || len(strings.Fields(name)) > 1:
		return "Nothing changed: name one model, as `provider/model`.", nil, nil
	}
	m, err := a.open(name)
	if err != nil {
		return fmt.Sprintf("Nothing changed: `%s` cannot be used: %v.", name, err), nil, nil
	}
	title := m.Title()
	return fmt.Sprintf("`%s` answers in this conversation from the next request on. `/model %s` undoes this.", title, defaultModel), &title, nil
}

// whichModel says which model answers in a session.
func (a *Agent) whichModel(ctx context.Context, session string) (string, error) {
	chosen, err := a.Store.SessionModel(ctx, session)
	if err != nil {
		return "", err
	}
	usual := a.configured().Title()
	text := fmt.Sprintf("`%s` answers, as configured.", usual)
	if chosen != "" {
		text = fmt.Sprintf("`%s` answers in this conversation, `%s` in others; `/model %s` undoes it.", chosen, usual, defaultModel)
	}
	if len(a.Model.Fallbacks) > 0 {
		text += fmt.Sprintf(" When it cannot: `%s`.", strings.Join(a.Model.Fallbacks, "`, `"))
	}
	return text, nil
}
