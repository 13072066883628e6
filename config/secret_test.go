package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/holdfast-ai/holdfast/config"
)

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	p := config.Provider{APIKey: "hush", Headers: map[string]config.Secret{"A": "hush"}}
	var shown bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		fmt.Fprintf(&shown, verb+verb+"\n", p, p.APIKey)
	}
	fmt.Fprintf(&shown, "%q %x %d\n", p.APIKey, p.APIKey, p.APIKey)
	require.NoError(t, json.NewEncoder(&shown).Encode(p))
	require.NoError(t, yaml.NewEncoder(&shown).Encode(p))
	slog.New(slog.NewTextHandler(&shown, nil)).Info("m", "p", p, "key", p.APIKey)
	slog.New(slog.NewJSONHandler(&shown, nil)).Info("m", "p", p, "key", p.APIKey)
	require.NotContains(t, shown.String(), "hush")
	require.NotContains(t, shown.String(), "68757368")
	require.Contains(t, shown.String(), "key=[redacted]")

	require.Equal(t, "hush", p.APIKey.Reveal())
	require.Empty(t, config.Secret("").String(), "that there is none may be seen")
}
