package transcript

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestWhichSessionAFileIs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, asked, path string
		head              header
		want              string
	}{
		{"nanobot's name", "", "x/telegram_12345.jsonl", header{}, "telegram:12345"},
		{"a name with more of them", "", "feishu_ou_1.jsonl", header{}, "feishu:ou_1"},
		{"nanobot's key", "", "x.jsonl", header{Key: "whatsapp:+49 1@s.whatsapp.net"}, "whatsapp:%2B49+1%40s.whatsapp.net"},
		{"nanobot's key with a thread", "", "x.jsonl", header{Key: "slack:C1:17.3"}, "slack:C1:17.3"},
		{"our key", "", "x.jsonl", header{Key: "a:b c", Metadata: map[string]any{sessionKey: "a:b+c:d%3Ae"}}, "a:b+c:d%3Ae"},
		{"the one asked for", "slack:T1/C2:17.3", "telegram_1.jsonl", header{Key: "a:b"}, "slack:T1/C2:17.3"},
		{"one asked for that is not escaped", "a:b c", "x.jsonl", header{}, "a:b+c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := File{head: tt.head}
			in, err := file.Import(tt.asked, tt.path, func(domain.Route) string { return "" })
			require.NoError(t, err)
			require.Equal(t, tt.want, in.Session)
		})
	}
}
