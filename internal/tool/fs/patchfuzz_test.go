package fs_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool/tooltest"
)

func FuzzApplyPatch(f *testing.F) {
	f.Add("x\ny\n", envelope("*** Update File: a", "@@ x", "-y", "+z", "*** End of File"))
	f.Add("x\r\n\r\ny", envelope("*** Update File: a", "*** Move to: b", "", "-y", "+z", "@@", "@@ x", "+1"))
	f.Add("", envelope("*** Add File: ../outside/x", "+x", "*** Delete File: link/secret"))
	f.Add("x", envelope("*** Delete File: a", "*** Add File: a", "+", "*** Update File: a", "*** Move to: link/x"))
	f.Add("x\nx\n", "```\n"+envelope("*** Update File: a", "x", "+y", "\\ No newline", "-x"))
	f.Fuzz(requireHarmless)
}

// TestRandomPatches covers what a fuzzer's bytes rarely reach: patches that are
// nearly correct.
func TestRandomPatches(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"*** Update File: a", "*** Update File: b", "*** Move to: b", "*** Move to: link/x", "*** Add File: b", "*** Add File: ../outside/x",
		"*** Delete File: a", "*** Delete File: link/secret", "*** End of File", "@@", "@@ x", "@@ y", "", " ", " x", " y", "-x", "-y", "-", "+x", "+z", "+", "x",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		lines := []string{pieces[random.IntN(2)]}
		for range random.IntN(12) {
			lines = append(lines, pieces[random.IntN(len(pieces))])
		}
		var content strings.Builder
		for range random.IntN(8) {
			content.WriteString([]string{"x\n", "y\n", "\n", "z\r\n", "  x\n", "y"}[random.IntN(6)])
		}
		requireHarmless(t, content.String(), envelope(lines...))
	}
}

// requireHarmless applies a patch to the file a, twice as after a crash.
func requireHarmless(t *testing.T, content, patch string) {
	b := setup(t, true)
	secret := filepath.Join(b.outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	require.NoError(t, os.Symlink("../outside", filepath.Join(b.dir, "link")))
	b.write(t, "a", content)
	before, journal := b.files(t), tooltest.NewJournal()

	text, err := b.attempt(t, journal, "apply_patch", args{"patch": patch})
	after := b.files(t)
	if err != nil {
		require.Equal(t, before, after, "%v\n%s", err, patch)
	}
	again, errAgain := b.attempt(t, journal, "apply_patch", args{"patch": patch})
	require.Equal(t, err == nil, errAgain == nil, "%q %v, then %q %v\n%s", text, err, again, errAgain, patch)
	require.Equal(t, after, b.files(t), patch)

	kept, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "secret", string(kept))
	entries, err := os.ReadDir(b.outside)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
