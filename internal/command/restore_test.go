package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// atOnce bounds the answer to a message after a restore, a start of the program included. A
// run that waits for something would take minutes or days.
const atOnce = 20 * time.Second

// TestRestore restores a backup of the store, of the engine, and of both, each of which lacks
// what happened in some conversations since. All of them answer their next message at once,
// commands included.
func TestRestore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		restored []string // files
		forgets  bool     // the store does not know what happened since the backup
	}{
		"of the store":  {[]string{"store.db"}, true},
		"of the engine": {[]string{"engine.db"}, false},
		"of both":       {[]string{"store.db", "engine.db"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
				switch text := r.LastUser(); {
				case strings.HasPrefix(text, "hang"):
					return llmtest.Hang()
				case strings.HasPrefix(text, "ask") && len(resultsOfTurn(r)) == 0:
					return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"true"}`})
				default:
					return llmtest.Text("answer to " + text)
				}
			})
			h := newHome(t, model.URL)
			h.environ = append(h.environ, "HOLDFAST_APPROVALS_RULES=ask exec")
			p := h.start(t)
			p.begin(t, model, "old", "hang old")
			p.ask(t, "main", "one")
			p.kill()
			backup := filepath.Join(t.TempDir(), "data")
			require.NoError(t, os.CopyFS(backup, os.DirFS(filepath.Join(h.dir, "data"))))

			p = h.start(t)
			p.ask(t, "main", "two")
			for _, session := range []string{"hangs", "stopped", "renewed"} {
				p.begin(t, model, session, "hang "+session)
			}
			p.begin(t, model, "asks", "ask")
			h.awaitQuestion(t)
			p.kill()
			h.restore(t, backup, tt.restored...)

			p = h.start(t)
			p.ask(t, "stopped", "/stop")
			p.ask(t, "renewed", "/new")
			p.ask(t, "old", "/stop")
			if !tt.forgets { // they go on
				p.ask(t, "hangs", "/stop")
				p.ask(t, "asks", "/stop")
			}
			for _, session := range []string{"main", "hangs", "asks", "stopped", "renewed", "old", "new"} {
				p.ask(t, session, "next")
			}
			messages, err := p.api().Transcript(t.Context(), "http:main")
			require.NoError(t, err)
			var said []string
			for _, m := range messages {
				if m.Role == domain.RoleUser {
					said = append(said, m.Content)
				}
			}
			want := []string{"one", "two", "next"}
			if tt.forgets {
				want = []string{"one", "next"}
			}
			require.Equal(t, want, said)
			require.Len(t, messages, 2*len(want))
			require.Empty(t, model.Invalid())
		})
	}
}

// begin sends a message whose turn does not end, and waits for its model call.
func (p *process) begin(t *testing.T, model *llmtest.Server, session, text string) {
	t.Helper()
	_, err := p.api().Send(t.Context(), session, session+text, text)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(model.Requests(), func(r llmtest.Request) bool { return strings.HasPrefix(r.LastUser(), text) })
	}, patience, 10*time.Millisecond)
}

// awaitQuestion waits until a call waits for approval.
func (h *home) awaitQuestion(t *testing.T) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(h.dir, "data", "store.db")})
	require.NoError(t, err)
	defer s.Close()
	require.Eventually(t, func() bool {
		waiting, err := s.WaitingApprovals(t.Context(), domain.Route{})
		return err == nil && len(waiting) > 0
	}, patience, 10*time.Millisecond)
}

// ask sends a message and waits for the answer.
func (p *process) ask(t *testing.T, session, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), atOnce, context.DeadlineExceeded)
	defer cancel()
	id := session + text
	_, err := p.api().Send(ctx, session, id, text)
	require.NoError(t, err)
	reply, err := p.api().Follow(ctx, id, nil)
	require.NoError(t, err, "%s in %s", text, session)
	require.Equal(t, domain.ReplyDone, reply.Status, reply.Text)
}

// restore replaces files of the data by those of a backup.
func (h *home) restore(t *testing.T, backup string, names ...string) {
	t.Helper()
	for _, name := range names {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			path := filepath.Join(h.dir, "data", name+suffix)
			require.NoError(t, os.RemoveAll(path))
			content, err := os.ReadFile(filepath.Join(backup, name+suffix))
			if err == nil {
				err = os.WriteFile(path, content, 0o600)
			}
			if !os.IsNotExist(err) {
				require.NoError(t, err)
			}
		}
	}
}
