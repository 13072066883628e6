package activities_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

func TestPicturesThatTheModelDoesNotTake(t *testing.T) {
	t.Parallel()
	b := setup(t, llmtest.NoImages(), llmtest.Text("a cat, you say"))
	require.NoError(t, os.WriteFile(filepath.Join(b.workspace, "cat.png"), []byte("picture"), 0o600))
	b.accept(t, "m1", "look", false)
	_, err := b.store.SaveEnriched(t.Context(), "m1", domain.Enriched{
		Text: "look", Files: []domain.SavedFile{{Name: "cat.png", MIME: "image/png", Path: "cat.png"}},
	})
	require.NoError(t, err)
	result, err := b.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	require.Equal(t, "a cat, you say", result.Preview)
	first, second := b.model.Requests()[0], b.model.Requests()[1]
	require.Equal(t, []string{"data:image/png;base64,cGljdHVyZQ=="}, first.Messages[1].Content.Images)
	require.Empty(t, second.Messages[1].Content.Images)
	require.Contains(t, second.LastUser(), "Images: left out")
}
