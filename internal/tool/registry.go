package tool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/llm"
)

// Source has tools that come and go while the agent runs. Safe for concurrent use.
type Source interface {
	// Tools returns those that are there now.
	Tools(ctx context.Context) []Tool
	// Lookup returns the tool of that name, also one that is away for now.
	Lookup(ctx context.Context, name string) (Tool, bool)
}

// Registry holds the tools of an agent. The zero value is empty and ready.
type Registry struct {
	tools   map[string]Tool
	sources []Source
}

// Register adds tools. A name that is taken is an error.
func (r *Registry) Register(tools ...Tool) error {
	if r.tools == nil {
		r.tools = map[string]Tool{}
	}
	for _, t := range tools {
		if _, taken := r.tools[t.Spec.Name]; taken {
			return fmt.Errorf("tool %s is registered twice", t.Spec.Name)
		}
		r.tools[t.Spec.Name] = t
	}
	return nil
}

// AddSource adds the tools of a source. Where a name is taken, the tool that was
// registered is meant.
func (r *Registry) AddSource(s Source) { r.sources = append(r.sources, s) }

// Lookup returns the tool of that name. The error for an unknown one lists what there is.
func (r *Registry) Lookup(ctx context.Context, name string) (Tool, error) {
	if t, ok := r.tools[name]; ok {
		return t, nil
	}
	for _, source := range r.sources {
		if t, ok := source.Lookup(ctx, name); ok {
			return t, nil
		}
	}
	names := slices.Sorted(maps.Keys(r.all(ctx)))
	return Tool{}, fmt.Errorf("there is no tool %q; there are: %s", name, strings.Join(names, ", "))
}

// Specs returns what the model is told of the tools, sorted by name so that
// prompts stay cacheable.
func (r *Registry) Specs(ctx context.Context) []llm.ToolSpec {
	tools := r.all(ctx)
	specs := make([]llm.ToolSpec, 0, len(tools))
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		specs = append(specs, tools[name].Spec)
	}
	return specs
}

// all are the tools that are there now, by name.
func (r *Registry) all(ctx context.Context) map[string]Tool {
	if len(r.sources) == 0 {
		return r.tools
	}
	tools := map[string]Tool{}
	for _, source := range slices.Backward(r.sources) {
		for _, t := range source.Tools(ctx) {
			tools[t.Spec.Name] = t
		}
	}
	maps.Copy(tools, r.tools)
	return tools
}
