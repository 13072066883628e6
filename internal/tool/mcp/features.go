package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	resourcesDescription = `List the resources of an MCP server, or read the one with this URI.`
	promptsDescription   = `List the prompts of an MCP server, or return the messages of one.`
)

type resourcesArgs struct {
	Server string `json:"server"`
	URI    string `json:"uri,omitempty" jsonschema:"resource to read; omit to list"`
}

type promptsArgs struct {
	Server    string            `json:"server"`
	Name      string            `json:"name,omitempty" jsonschema:"prompt to return; omit to list"`
	Arguments map[string]string `json:"arguments,omitempty" jsonschema:"arguments of the prompt"`
}

// feature is a tool for the resources or prompts of servers.
type feature struct {
	tool.Tool
	has func(lists) bool
}

func hasResources(l lists) bool { return len(l.resources)+len(l.templates) > 0 }
func hasPrompts(l lists) bool   { return len(l.prompts) > 0 }

func (s *Servers) newFeatures() []feature {
	features := []feature{
		{Tool: tool.New("mcp_prompts", promptsDescription, tool.Repeatable, s.prompts), has: hasPrompts},
		{Tool: tool.New("mcp_resources", resourcesDescription, tool.Repeatable, s.resources), has: hasResources},
	}
	for i := range features {
		features[i].ReadOnly = true
		if s.home != nil {
			features[i].Tool = s.home.at(features[i].Tool, s.placed)
		}
		for _, each := range s.servers {
			features[i].Timeout = max(features[i].Timeout, each.Timeout+margin)
		}
	}
	return features
}

// placed reports whether a call of a feature is about a server that has a place.
func (s *Servers) placed(arguments json.RawMessage) bool {
	var args struct {
		Server string `json:"server"`
	}
	_ = json.Unmarshal(arguments, &args) // an unknown server has no place
	server, _, err := s.server(args.Server)
	return err == nil && server.placed()
}

// of returns the feature's tool for the servers that have it.
func (f feature) of(servers []string) tool.Tool {
	t := f.Tool
	t.Spec.Description += " Servers: " + strings.Join(servers, ", ") + "."
	return t
}

// having returns the names of the servers that have the feature.
func (s *Servers) having(f feature) []string {
	var names []string
	for _, each := range s.servers {
		if f.has(each.known()) {
			names = append(names, each.Name)
		}
	}
	return names
}

// server returns the server of that name and its lists.
func (s *Servers) server(name string) (*server, lists, error) {
	i := slices.IndexFunc(s.servers, func(each *server) bool { return each.Name == name })
	if i < 0 {
		var names []string
		for _, each := range s.servers {
			names = append(names, each.Name)
		}
		return nil, lists{}, fmt.Errorf("unknown server %q; available: %s", name, strings.Join(names, ", "))
	}
	return s.servers[i], s.servers[i].known(), nil
}

func (s *Servers) resources(ctx context.Context, _ tool.Call, args resourcesArgs) (tool.Result, error) {
	server, known, err := s.server(args.Server)
	if err != nil {
		return tool.Result{}, err
	}
	var out []string
	if args.URI == "" {
		for _, r := range known.resources {
			out = append(out, fmt.Sprintf("- %s (%s)", r.URI, describe(r.Name, r.Title, r.MIMEType, r.Description)))
		}
		for _, t := range known.templates {
			out = append(out, fmt.Sprintf("- %s (%s)", t.URITemplate, describe("template", t.Name, t.Title, t.MIMEType, t.Description)))
		}
		return listing(out, args.Server, "resources"), nil
	}
	answer, err := ask(ctx, server, tool.Repeatable, func(ctx context.Context, session *sdk.ClientSession) (*sdk.ReadResourceResult, error) {
		return session.ReadResource(ctx, &sdk.ReadResourceParams{URI: args.URI})
	})
	if err != nil {
		return tool.Result{}, err
	}
	for _, content := range answer.Contents {
		out = append(out, resourceText(content))
	}
	return tool.Result{Text: joined(out)}, nil
}

func (s *Servers) prompts(ctx context.Context, _ tool.Call, args promptsArgs) (tool.Result, error) {
	server, known, err := s.server(args.Server)
	if err != nil {
		return tool.Result{}, err
	}
	var out []string
	if args.Name == "" {
		if len(args.Arguments) > 0 {
			return tool.Result{}, errors.New("arguments require the name of a prompt")
		}
		for _, p := range known.prompts {
			out = append(out, fmt.Sprintf("- %s (%s)", p.Name, describe(p.Title, p.Description, promptArguments(p))))
		}
		return listing(out, args.Server, "prompts"), nil
	}
	answer, err := ask(ctx, server, tool.Repeatable, func(ctx context.Context, session *sdk.ClientSession) (*sdk.GetPromptResult, error) {
		return session.GetPrompt(ctx, &sdk.GetPromptParams{Name: args.Name, Arguments: args.Arguments})
	})
	if err != nil {
		return tool.Result{}, err
	}
	for _, m := range answer.Messages {
		out = append(out, fmt.Sprintf("%s: %s", m.Role, contentText(m.Content)))
	}
	return tool.Result{Text: joined(out)}, nil
}

func listing(out []string, server, what string) tool.Result {
	if len(out) == 0 {
		return tool.Result{Text: fmt.Sprintf("%s has no %s", server, what)}
	}
	return tool.Result{Text: joined(out)}
}

// promptArguments describes the arguments of a prompt.
func promptArguments(p *sdk.Prompt) string {
	var names []string
	for _, a := range p.Arguments {
		name := a.Name
		if !a.Required {
			name += "?"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return "arguments: " + strings.Join(names, " ")
}
