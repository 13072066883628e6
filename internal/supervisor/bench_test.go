package supervisor_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
)

// BenchmarkTrue measures running a command that does nothing.
func BenchmarkTrue(b *testing.B) {
	s, err := supervisor.New(supervisor.Options{Dir: b.TempDir()})
	require.NoError(b, err)
	for i := 0; b.Loop(); i++ {
		p, err := s.Start(b.Context(), supervisor.Spec{
			Key: fmt.Sprintf("b.1.%d", i), Command: "true", Dir: os.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")},
		})
		require.NoError(b, err)
		_, err = p.Wait(b.Context())
		require.NoError(b, err)
	}
}
