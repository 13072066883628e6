package discord

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// command is a slash command.
type command struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Options     []option `json:"options,omitempty"`
}

// option is an argument of a command.
type option struct {
	Type        int    `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

const textOption = 3

// commands returns our commands.
func commands() []command {
	var all []command
	for _, spec := range domain.Commands() {
		c := command{Name: string(spec.Name), Description: spec.Description}
		if spec.Arguments != "" {
			c.Options = []option{{Type: textOption, Name: "argument", Description: spec.Arguments}}
		}
		all = append(all, c)
	}
	return all
}

// registerCommands registers those of our commands that are not registered as they are now.
// Others that the application has stay.
func (g *gateway) registerCommands(ctx context.Context, application string) error {
	const route = "/applications/%s/commands"
	var registered []command
	if err := g.call(ctx, request{method: http.MethodGet, route: route, ids: []string{application}}, &registered); err != nil {
		return err
	}
	for _, c := range commands() {
		if slices.ContainsFunc(registered, func(r command) bool { return reflect.DeepEqual(r, c) }) {
			continue
		}
		if err := g.call(ctx, request{method: http.MethodPost, route: route, ids: []string{application}, body: c}, nil); err != nil {
			return err
		}
	}
	return nil
}
