package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// settle gives a chat its own settings.
func (b *bundle) settle(t *testing.T, settings activities.ChatSettings) {
	t.Helper()
	b.options.Channels.Settings = func(r domain.Route) activities.ChatSettings {
		if r.Channel == session.Channel && r.Chat == "c1" {
			return settings
		}
		return activities.ChatSettings{}
	}
	var err error
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
}

func TestAChatHasItsOwnPromptAndTools(t *testing.T) {
	t.Parallel()
	b := setup(t, calls(1, "poke", `{}`), llmtest.Text("done"))
	poked := 0
	poke := func(context.Context, tool.Call) (tool.Result, error) {
		poked++
		return tool.Result{Text: "poked"}, nil
	}
	for _, name := range []string{"poke", "read_file", "read_dir"} {
		b.add(t, name, tool.Once, poke)
	}
	b.settle(t, activities.ChatSettings{Tools: []string{"read_*"}, Prompt: "You look after the build."})
	b.asked(t)
	var offered []string
	for _, spec := range b.model.Requests()[0].Tools {
		offered = append(offered, spec.Function.Name)
	}
	require.Equal(t, []string{"read_dir", "read_file"}, offered)
	require.Contains(t, b.model.Requests()[0].Messages[0].Content.Text, "# Instructions for this chat\n\nYou look after the build.")

	result, err := b.callTool(t, 1, 0)
	require.NoError(t, err)
	require.Zero(t, result.Approval)
	require.Zero(t, poked, "the model called a tool that it was not offered")
	rows := b.rows(t)
	require.Contains(t, rows[len(rows)-1].Content, `unknown tool "poke"; available: read_dir, read_file`)
}

func TestAChatHasItsOwnModel(t *testing.T) {
	t.Parallel()
	b := setup(t, llmtest.Text("usual"), llmtest.Text("other"))
	var opened []string
	b.options.Model.Open = func(title string) (activities.Model, error) {
		opened = append(opened, title)
		m := b.options.Model.Model
		m.Name = "other"
		return m, nil
	}
	b.settle(t, activities.ChatSettings{Model: "scripted/other"})
	b.asked(t)
	require.Equal(t, []string{"scripted/other"}, opened)
	require.Equal(t, "other", b.model.Requests()[0].Model)

	b.accept(t, "m2", "/model", false)
	_, err := execute[protocol.AnswerResult](t, b.agent.Answer, protocol.AnswerInput{Session: session, Message: "m2", Command: domain.CommandModel})
	require.NoError(t, err)
	turn, err := b.store.Turn(t.Context(), "m2")
	require.NoError(t, err)
	require.Contains(t, turn.Reply, "Using `scripted/other`")
}

func TestAChatHasItsOwnApprovers(t *testing.T) {
	t.Parallel()
	a := setupAsker(t, `{}`)
	a.settle(t, activities.ChatSettings{Approvers: []string{"test:boss"}})
	result, err := a.callTool(t, 1, 0)
	require.NoError(t, err)
	require.NotNil(t, result.Approval)
	require.Contains(t, a.says(t, "ana", "/approve"), "test:boss may.")
	require.Contains(t, a.says(t, "boss", "/approve"), "Approved")
}
