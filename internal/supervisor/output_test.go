package supervisor_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutput(t *testing.T) {
	t.Parallel()

	t.Run("is kept up to its limit and counted beyond", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		long := spec("t.1.0", "head -c 7000000 /dev/zero | tr '\\0' y; exit 2")
		long.MaxOutput = 5_000_000

		p := start(t, s, long)
		exit := wait(t, p)

		require.Equal(t, 2, exit.Code)
		require.True(t, exit.Truncated)
		require.EqualValues(t, 7_000_000, exit.OutputBytes)
		text, err := p.Output(0)
		require.NoError(t, err)
		require.True(t, bytes.Equal(text, bytes.Repeat([]byte("y"), 5_000_000)))
		info, err := os.Stat(filepath.Join(dir, "t.1.0", "output"))
		require.NoError(t, err)
		require.EqualValues(t, 5_000_000, info.Size())
	})

	t.Run("can be seen while the command runs", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		gate := filepath.Join(dir, "gate")
		p := start(t, s, spec("t.1.0", "echo one; echo two; echo; until [ -e "+gate+" ]; do sleep 0.01; done; printf 'three\rfour'"))

		eventually(t, func() bool { return p.LastLine() == "two" }, "the last line is two")
		require.NoError(t, os.WriteFile(gate, nil, 0o600))
		wait(t, p)

		require.Equal(t, "four", p.LastLine())
	})

	t.Run("has a last line of bounded length", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		p := start(t, s, spec("t.1.0", "yes äöü | head -n 3000 | tr -d '\\n'"))
		wait(t, p)

		require.LessOrEqual(t, len(p.LastLine()), 200)
		require.NotEmpty(t, p.LastLine())
	})

	t.Run("is empty before the first line", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		p := start(t, s, spec("t.1.0", "true"))
		wait(t, p)

		require.Empty(t, p.LastLine())
		require.Empty(t, strings.TrimSpace(output(t, p)))
	})
}
