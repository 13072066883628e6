package think_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/think"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, text, thought string }{
		{"plain text", "Hello, world", "Hello, world", ""},
		{"nothing", "", "", ""},
		{"a block in front", "<think>\nhm\n</think>\n\nHello", "Hello", "\nhm\n"},
		{"a block in the middle", "a <think>b</think> c", "a  c", "b"},
		{"two blocks", "<think>1</think>a<think>2</think>b", "ab", "12"},
		{"an open block", "a<think>never closed </thin", "a", "never closed </thin"},
		{"only thinking", "<think>x</think>", "", "x"},
		{"what looks like a tag", "1 <2 and <thin and <think", "1 <2 and <thin and <think", ""},
		{"a tag after half a tag", "<<think>x<</think>y", "<y", "x<"},
		{"an empty block", "<think></think>y", "y", ""},
		{"letters of many bytes", "é<think>ü</think>ß", "éß", "ü"},
		{"an end without a beginning", "a</think>b", "a</think>b", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= len(tt.in)+1; size++ {
				text, thought := separate(tt.in, size)
				require.Equal(t, tt.text, text, "pieces of %d bytes", size)
				require.Equal(t, tt.thought, thought, "pieces of %d bytes", size)
			}
		})
	}
}

func TestFilterHoldsBackAtMostATag(t *testing.T) {
	t.Parallel()
	var f think.Filter
	text, _ := f.Write("Hello <thi")
	require.Equal(t, "Hello ", text)
	text, _ = f.Write("s>")
	require.Equal(t, "<this>", text)
}

func separate(in string, size int) (string, string) {
	var f think.Filter
	var text, thought strings.Builder
	add := func(a, b string) {
		text.WriteString(a)
		thought.WriteString(b)
	}
	for in != "" {
		n := min(size, len(in))
		add(f.Write(in[:n]))
		in = in[n:]
	}
	add(f.Close())
	return text.String(), thought.String()
}
