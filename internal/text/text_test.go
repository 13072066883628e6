package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/text"
)

func TestWholeRunes(t *testing.T) {
	t.Parallel()
	for cut, whole := range map[string]string{
		"": "", "abc": "abc", "aé": "aé", "a\xc3": "a", "日本": "日本", "日\xe6\x9c": "日", "日\xe6": "日",
		"\xf0\x9f\x98": "", "a\xff": "a\xff", "\x80\x80\x80\x80\x80": "\x80\x80\x80\x80\x80",
	} {
		require.Equal(t, whole, text.WholeRunes(cut), "%q", cut)
		require.Equal(t, []byte(whole), text.WholeRunes([]byte(cut)), "%q", cut)
	}
}

func TestCutRunes(t *testing.T) {
	t.Parallel()
	require.Equal(t, "日本語", text.CutRunes("日本語", 3))
	require.Equal(t, "日…", text.CutRunes("日本語", 2))
	require.Equal(t, "日本", text.FirstRunes("日本語", 2))
	require.Equal(t, "日本語", text.FirstRunes("日本語", 4))
	require.Equal(t, 3, text.Boundary("日本語", 5))
	require.Equal(t, 6, text.Boundary([]byte("日本語"), 6))
}
