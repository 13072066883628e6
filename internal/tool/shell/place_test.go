package shell_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/tooltest"
)

// places is a [shell.Places] in memory.
type places struct {
	at       map[string]string // by session
	servers  string            // where MCP servers run
	journals map[string]*tooltest.Journal
}

func newPlaces(journals map[string]*tooltest.Journal) *places {
	return &places{at: map[string]string{}, journals: journals}
}

func (p *places) SessionPlaces(_ context.Context, session string) (commands, servers string, err error) {
	return p.at[session], p.servers, nil
}

func (p *places) EnterPlace(_ context.Context, session, place string) error {
	p.at[session] = place
	return nil
}

func (p *places) LeavePlace(_ context.Context, session, place string) error {
	if p.at[session] == place {
		delete(p.at, session)
	}
	return nil
}

func (p *places) MoveServers(_ context.Context, _, from, to string) (string, error) {
	if p.servers == from {
		p.servers = to
	}
	return p.servers, nil
}

func (p *places) Intent(_ context.Context, _, call, part string) ([]byte, bool, error) {
	if p.journals[call] == nil {
		return nil, false, nil
	}
	data, found := p.journals[call].Intents()[part]
	return data, found, nil
}

func TestCallsGoWhereTheirCommandsRun(t *testing.T) {
	t.Parallel()
	const key = "turn.2.0"
	setup := func(t *testing.T) (here, there *conversation) {
		there = converse(t)
		there.must(t, first, "exec_start", args{"command": greeter, "wait_seconds": short})
		elsewhere := *there
		elsewhere.commands = t.TempDir()
		t.Cleanup(func() { elsewhere.end(t, elsewhere.commands) })
		return &elsewhere, there
	}
	place := func(t *testing.T, c *conversation) string { return newSupervisor(t, c.commands).Place() }
	sentTo := func(t *testing.T, c *conversation, name string, arguments args) string {
		t.Helper()
		_, err := c.attempt(t.Context(), t, key, name, arguments)
		var elsewhere *tool.ElsewhereError
		require.ErrorAs(t, err, &elsewhere)
		return elsewhere.Place
	}

	t.Run("while any runs", func(t *testing.T) {
		t.Parallel()
		here, there := setup(t)
		for name, arguments := range map[string]args{
			"exec_read": {"session": first}, "exec_write": {"session": first, "input": "Ana"}, "exec_stop": {"session": first},
			"exec_start": {"command": "true"},
		} {
			require.Equal(t, place(t, there), sentTo(t, here, name, arguments), name)
		}
		require.Equal(t, place(t, there), sentTo(t, here, "exec_read", args{}), "the list")
		require.Empty(t, here.journal(key).Intents())
		there.must(t, "turn.2.1", "exec_stop", args{"session": first})
		require.Equal(t, "no sessions", here.must(t, "turn.2.2", "exec_read", args{}), "none runs any more")
	})

	t.Run("to read what it wrote before it ended", func(t *testing.T) {
		t.Parallel()
		here, there := setup(t)
		there.must(t, "turn.2.1", "exec_stop", args{"session": first})
		require.Equal(t, place(t, there), sentTo(t, here, "exec_read", args{"session": first}))
	})

	t.Run("unless that place does not answer", func(t *testing.T) {
		t.Parallel()
		here, there := setup(t)
		here.tried = []string{place(t, there)}
		_, err := here.attempt(t.Context(), t, first, "exec_start", args{"command": greeter})
		require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
		_, err = here.attempt(t.Context(), t, key, "exec_read", args{"session": first})
		require.ErrorContains(t, err, "does not answer")
		require.Contains(t, here.must(t, "turn.2.1", "exec_start", args{"command": "echo here; sleep 60", "wait_seconds": short}), "is running")
		here.tried = nil
		require.Contains(t, here.must(t, "turn.2.2", "exec_read", args{}), "turn.2.1 is running", "the session has moved")
	})

	t.Run("or else where MCP servers do that the conversation uses", func(t *testing.T) {
		t.Parallel()
		here, _ := setup(t)
		here.options.Places = &places{at: map[string]string{}, servers: "servers"}
		require.Equal(t, "servers", sentTo(t, here, "exec_start", args{"command": "true"}))
		here.tried = []string{"servers"}
		require.Equal(t, "no sessions", here.must(t, "turn.2.1", "exec_read", args{}), "that place does not answer")
		here.tried = nil
		require.Contains(t, here.must(t, "turn.2.2", "exec_start", args{"command": "echo here; sleep 60", "wait_seconds": short}), "is running")
	})
}
