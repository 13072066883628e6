package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
)

// nameLimitOfModel bounds, in bytes, the name of a model that a user chooses, since
// payloads carry it.
const nameLimitOfModel = 200

// defaultModel is the argument of /model that returns to the configured model.
const defaultModel = "default"

// Model is a language model at a provider.
type Model struct {
	Provider llm.Provider
	Service  string // the provider's name, as configured
	Name     string // as the provider names it
}

// Title returns the model's name as users write it: provider/model.
func (m Model) Title() string { return m.Service + "/" + m.Name }

// modelOf returns the model of a turn: the one chosen for its session, or the configured
// one.
func (a *Agent) modelOf(turn domain.Turn) (Model, error) {
	if turn.Model == "" {
		return a.Model.Model, nil
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

// chooseModel answers /model. Without an argument it names the session's model. With one
// it returns the session's new model: a title, or empty for the configured one.
func (a *Agent) chooseModel(ctx context.Context, message domain.Inbound) (reply string, model *string, err error) {
	_, arguments := domain.ParseCommand(message.Text)
	name := strings.Trim(arguments, "`\"'")
	switch {
	case name == "":
		reply, err = a.currentModel(ctx, message)
		return reply, nil, err
	case strings.EqualFold(name, defaultModel):
		return fmt.Sprintf("From the next request on, `%s`, the configured model, is used.", a.usualModel(message.Route())), new(string), nil
	case len(name) > nameLimitOfModel || len(strings.Fields(name)) > 1:
		return "Nothing changed: give one model, as `provider/model`.", nil, nil
	}
	m, err := a.open(name)
	if err != nil {
		return fmt.Sprintf("Nothing changed: `%s` cannot be used: %v.", name, err), nil, nil
	}
	title := m.Title()
	return fmt.Sprintf("From the next request on, this conversation uses `%s`. `/model %s` switches back.", title, defaultModel), &title, nil
}

// usualModel names the configured model of a chat.
func (a *Agent) usualModel(where domain.Route) string {
	if a.Channels.Settings == nil {
		return a.Model.Title()
	}
	return cmp.Or(a.Channels.Settings(where).Model, a.Model.Title())
}

// currentModel names the model of a session.
func (a *Agent) currentModel(ctx context.Context, message domain.Inbound) (string, error) {
	chosen, err := a.Store.SessionModel(ctx, message.Session)
	if err != nil {
		return "", err
	}
	usual := a.usualModel(message.Route())
	text := fmt.Sprintf("Using `%s`, the configured model.", usual)
	if chosen != "" {
		text = fmt.Sprintf("This conversation uses `%s`, others use `%s`; `/model %s` switches back.", chosen, usual, defaultModel)
	}
	if len(a.Model.Fallbacks) > 0 {
		text += fmt.Sprintf(" Fallbacks: `%s`.", strings.Join(a.Model.Fallbacks, "`, `"))
	}
	return text, nil
}
