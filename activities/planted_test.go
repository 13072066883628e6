package activities_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// planted are what commands of the agent may leave where Holdfast reads a file.
var planted = map[string]func(path string) error{
	"a pipe":             func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a link to a device": func(path string) error { return os.Symlink("/dev/zero", path) },
	"a directory":        func(path string) error { return os.Mkdir(path, 0o700) },
	"a terabyte": func(path string) error {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, 1<<40)
	},
}

func TestPlantedWorkspaceFiles(t *testing.T) {
	t.Parallel()
	for name, plant := range planted {
		t.Run(name+" in place of each file", func(t *testing.T) {
			t.Parallel()
			c := setupClock(t, activities.JobOptions{}, llmtest.Text("done"), llmtest.Text("again"))
			c.remembering(t)
			picture := filepath.Join("media", "m1", "cat.png")
			for _, file := range []string{
				"AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md",
				"memory/MEMORY.md", "memory/" + time.Now().Format(time.DateOnly) + ".md",
				"skills/tea/SKILL.md", ".holdfast/skills/github/SKILL.md", picture,
			} {
				path := filepath.Join(c.workspace, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, plant(path))
			}
			c.accept(t, "m1", "look", false)
			_, err := c.store.SaveEnriched(t.Context(), "m1", domain.Enriched{
				Text: "look", Files: []domain.SavedFile{{Name: "cat.png", MIME: "image/png", Path: filepath.Join(c.workspace, picture)}},
			})
			require.NoError(t, err)
			_, err = c.complete(t, "m1", 1, "m1")
			require.NoError(t, err)
			request := c.model.Requests()[0]
			require.Less(t, len(request.Messages[0].Content.Text), 1<<20)
			require.Empty(t, request.Messages[1].Content.Images)

			c.fire(t, domain.Heartbeat, "2026-03-02T08:00:00Z")
		})

		t.Run(name+" in place of a file to be sent", func(t *testing.T) {
			t.Parallel()
			b := setup(t, calls(1, "noop", `{}`))
			b.asked(t)
			require.NoError(t, plant(filepath.Join(b.workspace, "report.pdf")))
			out := domain.Outbound{ID: "f1", Turn: "m1", Channel: "test", Chat: "c1", File: "report.pdf", Path: "report.pdf"}
			require.NoError(t, b.store.Send(t.Context(), out))
			result, err := deliver(t, b, channeltest.NewMemory("test"), protocol.DeliverInput{Outbox: "f1"})
			require.NoError(t, err)
			require.True(t, result.Gone)
		})
	}

	t.Run("pipes in place of folders", func(t *testing.T) {
		t.Parallel()
		c := setupClock(t, activities.JobOptions{}, llmtest.Text("done"))
		c.remembering(t)
		for _, folder := range []string{"memory", "skills", ".holdfast"} {
			require.NoError(t, syscall.Mkfifo(filepath.Join(c.workspace, folder), 0o600))
		}
		c.asked(t)
		require.Len(t, c.model.Requests(), 1)
	})
}
