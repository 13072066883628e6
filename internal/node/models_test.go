package node

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm"
)

func TestModelNamesArePermanent(t *testing.T) {
	t.Parallel()
	m := &models{log: slog.New(slog.DiscardHandler), cfg: config.Default(t.TempDir())}
	for _, row := range llm.Registry() {
		m.cfg.Providers[row.Name] = config.Provider{BaseURL: "http://127.0.0.1:1/v1", APIKey: "key"}
	}
	defer m.close()
	for _, row := range llm.Registry() {
		for _, name := range []string{"gpt-5", "vendor/claude-opus-5", row.Name + "/x"} {
			opened, err := m.open(row.Name + "/" + name)
			require.NoError(t, err)
			again, err := m.open(opened.Title())
			require.NoError(t, err)
			require.Equal(t, opened.Title(), again.Title(), "what is stored is what was meant")
		}
	}
}
