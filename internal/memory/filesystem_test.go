package memory_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

func TestCheckFileSystem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, memory.CheckFileSystem(dir))
	left, err := os.ReadDir(filepath.Join(dir, "memory"))
	require.NoError(t, err)
	require.Empty(t, left)
}
