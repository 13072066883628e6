package tool

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/llm"
)

// Source provides tools that may change while the agent runs. Safe for concurrent
// use.
type Source interface {
	// Tools returns the tools available now.
	Tools(ctx context.Context) []Tool
	// Lookup returns the tool with this name, even if it is unavailable now.
	Lookup(ctx context.Context, name string) (Tool, bool)
}

// Registry holds the tools of an agent. The zero value is empty and ready.
type Registry struct {
	tools   map[string]Tool
	sources []Source
	only    []string // patterns of the names that it has; nil: all
}

// Only returns a registry of the tools whose names match one of the patterns, as in
// [path.Match].
func (r *Registry) Only(patterns []string) *Registry {
	limited := *r
	limited.only = patterns
	return &limited
}

func (r *Registry) has(name string) bool {
	return r.only == nil || slices.ContainsFunc(r.only, func(pattern string) bool {
		matches, err := path.Match(pattern, name)
		return matches && err == nil
	})
}

// Register adds tools. Invalid tools and duplicate names are an error.
func (r *Registry) Register(tools ...Tool) error {
	if r.tools == nil {
		r.tools = map[string]Tool{}
	}
	for _, t := range tools {
		if t.err != nil {
			return t.err
		}
		if _, taken := r.tools[t.Spec.Name]; taken {
			return fmt.Errorf("tool %s is registered twice", t.Spec.Name)
		}
		r.tools[t.Spec.Name] = t
	}
	return nil
}

// AddSource adds the tools of a source. Registered tools take precedence over tools
// of sources with the same name.
func (r *Registry) AddSource(s Source) { r.sources = append(r.sources, s) }

// Lookup returns the tool with this name. The error for an unknown name lists the
// available tools.
func (r *Registry) Lookup(ctx context.Context, name string) (Tool, error) {
	if r.has(name) {
		if t, ok := r.tools[name]; ok {
			return t, nil
		}
		for _, source := range r.sources {
			if t, ok := source.Lookup(ctx, name); ok {
				return t, nil
			}
		}
	}
	names := slices.Sorted(maps.Keys(r.all(ctx)))
	return Tool{}, fmt.Errorf("unknown tool %q; available: %s", name, strings.Join(names, ", "))
}

// Names returns the names of the registered tools, sorted; not those of sources.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.tools)) }

// Specs returns the descriptions of the tools for the model, sorted by name so that
// prompts stay cacheable.
func (r *Registry) Specs(ctx context.Context) []llm.ToolSpec {
	tools := r.all(ctx)
	specs := make([]llm.ToolSpec, 0, len(tools))
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		specs = append(specs, tools[name].Spec)
	}
	return specs
}

// all returns the tools available now, by name.
func (r *Registry) all(ctx context.Context) map[string]Tool {
	if len(r.sources) == 0 && r.only == nil {
		return r.tools
	}
	tools := map[string]Tool{}
	for _, source := range slices.Backward(r.sources) {
		for _, t := range source.Tools(ctx) {
			tools[t.Spec.Name] = t
		}
	}
	maps.Copy(tools, r.tools)
	maps.DeleteFunc(tools, func(name string, _ Tool) bool { return !r.has(name) })
	return tools
}
