package text_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/text"
)

func TestPreview(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"plain":         strings.Repeat("abc ", 100),
		"quotes":        strings.Repeat(`"\`, 100),
		"control":       strings.Repeat("\x00\n\t\x1f\x7f", 100),
		"HTML":          strings.Repeat("<a&b>", 100),
		"separators":    strings.Repeat("\u2028\u2029", 100),
		"wide":          strings.Repeat("ü世🙂", 100),
		"invalid UTF-8": strings.Repeat("\xff<", 100),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clean := strings.ToValidUTF8(s, "\uFFFD")
			for limit := 3; limit < 300; limit++ {
				got := text.Preview(s, limit)
				encoded, err := json.Marshal(got)
				require.NoError(t, err)
				require.LessOrEqual(t, len(encoded)-2, limit)
				require.Greater(t, len(encoded)-2, limit-3-6, "no more is cut than has to be")
				require.True(t, strings.HasPrefix(clean, strings.TrimSuffix(got, "…")), got)
			}
			require.Equal(t, clean, text.Preview(s, 10_000), "what fits is left alone")
		})
	}
}
