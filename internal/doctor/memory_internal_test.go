package doctor

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

func TestFileSystemOfTheWorkspace(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lacks error
		want  []string
	}{
		"nothing":                {nil, nil},
		"locks":                  {memory.ErrNoLock, []string{"other's changes of the memory: no locks between processes"}},
		"locks between machines": {fmt.Errorf("%w: /shared is mounted with nolock", memory.ErrLocalLock), []string{"no locks between machines: /shared is mounted with nolock"}},
		"exchange":               {memory.ErrNoExchange, []string{"what an editor saves in a memory file while Holdfast changes it could be lost"}},
		"both":                   {errors.Join(memory.ErrNoLock, memory.ErrNoExchange), []string{"workers on several machines could lose", "what an editor saves"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var found []Finding
			d := &doctor{report: func(f Finding) { found = append(found, f) }}
			d.checkSharing(tt.lacks)
			require.Len(t, found, len(tt.want))
			for i, want := range tt.want {
				require.Equal(t, Warn, found[i].Level)
				require.Contains(t, found[i].Text, want)
				require.NotEmpty(t, found[i].Fix)
			}
		})
	}
}
