package command

import (
	"bytes"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// initialized matches a package of ours in the trace of what a process does before main.
var initialized = regexp.MustCompile(`(?m)^init github\.com/holdfast-ai/holdfast/(\S+) .* (\d+) bytes, `)

// TestStartPreparesLittle checks that packages, above all those of chat platforms, which most
// people leave off, prepare little before main.
func TestStartPreparesLittle(t *testing.T) {
	t.Parallel()
	path, err := binary()
	require.NoError(t, err)
	var trace bytes.Buffer
	version := exec.Command(path, "version")
	version.Env, version.Stderr = []string{"GODEBUG=inittrace=1"}, &trace
	require.NoError(t, version.Run())
	all := initialized.FindAllStringSubmatch(trace.String(), -1)
	require.NotEmpty(t, all, "%s", &trace)
	total := 0
	for _, found := range all {
		size, err := strconv.Atoi(found[2])
		require.NoError(t, err)
		require.Less(t, size, 250_000, "%s: bytes allocated", found[1])
		total += size
	}
	require.Less(t, total, 1_500_000, "bytes allocated")
}
