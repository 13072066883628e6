package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

type greetArgs struct {
	Name  string `json:"name" jsonschema:"who is greeted"`
	Times int    `json:"times,omitempty"`
}

func newGreet(t *testing.T, name string) tool.Tool {
	t.Helper()
	greet := tool.New(name, " Greets. \n", tool.Repeatable,
		func(_ context.Context, call tool.Call, args greetArgs) (tool.Result, error) {
			return tool.Result{Text: call.Key + ": hello " + args.Name}, nil
		})
	require.NoError(t, greet.Err())
	return greet
}

func TestNewDescribesTheArguments(t *testing.T) {
	t.Parallel()
	greet := newGreet(t, "greet")
	require.Equal(t, "greet", greet.Spec.Name)
	require.Equal(t, "Greets.", greet.Spec.Description)
	require.Equal(t, tool.Repeatable, greet.Kind)
	var schema struct {
		Type       string
		Required   []string
		Properties map[string]struct{ Description string }
	}
	require.NoError(t, json.Unmarshal(greet.Spec.Parameters, &schema))
	require.Equal(t, "object", schema.Type)
	require.Equal(t, []string{"name"}, schema.Required)
	require.Equal(t, "who is greeted", schema.Properties["name"].Description)
	require.Contains(t, schema.Properties, "times")
}

func TestNewRequiresDescribableType(t *testing.T) {
	t.Parallel()
	broken := tool.New("broken", "", tool.Once,
		func(context.Context, tool.Call, struct{ F func() }) (tool.Result, error) { return tool.Result{}, nil })
	require.ErrorContains(t, broken.Err(), "tool broken")
	require.ErrorIs(t, new(tool.Registry).Register(broken), broken.Err())
}

func TestArgumentsAreValidated(t *testing.T) {
	t.Parallel()
	greet := newGreet(t, "greet")
	tests := []struct {
		name, arguments string
		ok              bool
	}{
		{"what is asked for", `{"name": "Ana"}`, true},
		{"all there is", `{"name": "Ana", "times": 2}`, true},
		{"none", ``, false},
		{"not the required one", `{"times": 2}`, false},
		{"one of another type", `{"name": 7}`, false},
		{"one that there is not", `{"name": "Ana", "color": "red"}`, false},
		{"no object", `["Ana"]`, false},
		{"no JSON", `{"name": `, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result, err := greet.Run(t.Context(), tool.Call{Key: "k", Arguments: json.RawMessage(tt.arguments)})
			if !tt.ok {
				require.ErrorContains(t, err, "invalid arguments for greet")
				return
			}
			require.NoError(t, err)
			require.Equal(t, "k: hello Ana", result.Text)
		})
	}
}

func TestRegistry(t *testing.T) {
	t.Parallel()

	t.Run("finds what was registered", func(t *testing.T) {
		t.Parallel()
		var r tool.Registry
		require.NoError(t, r.Register(newGreet(t, "b"), newGreet(t, "a")))
		found, err := r.Lookup(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, "a", found.Spec.Name)
	})

	t.Run("lists the available ones for an unknown name", func(t *testing.T) {
		t.Parallel()
		var r tool.Registry
		require.NoError(t, r.Register(newGreet(t, "b"), newGreet(t, "a")))
		_, err := r.Lookup(t.Context(), "c")
		require.EqualError(t, err, `unknown tool "c"; available: a, b`)
	})

	t.Run("refuses a name twice", func(t *testing.T) {
		t.Parallel()
		var r tool.Registry
		require.ErrorContains(t, r.Register(newGreet(t, "a"), newGreet(t, "a")), "registered twice")
	})

	t.Run("gives specs in the order of names", func(t *testing.T) {
		t.Parallel()
		var r tool.Registry
		require.Empty(t, r.Specs(t.Context()))
		require.NoError(t, r.Register(newGreet(t, "b"), newGreet(t, "c"), newGreet(t, "a")))
		var names []string
		for _, spec := range r.Specs(t.Context()) {
			names = append(names, spec.Name)
		}
		require.Equal(t, []string{"a", "b", "c"}, names)
	})
}
