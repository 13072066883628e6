package markdown_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		text  string
		limit int
		want  []string
	}{
		{"nothing", "", 10, nil},
		{"white space only", " \n\n\t", 10, nil},
		{"what fits stays as it is", "one\n\ntwo \n", 10, []string{"one\n\ntwo \n"}},
		{"no limit", "one two", 0, []string{"one two"}},
		{"between paragraphs", "one two.\n\nthree\nfour five", 20, []string{"one two.\n\nthree", "four five"}},
		{"between paragraphs rather than lines", "one two three\n\nfour\nfive six", 20, []string{"one two three", "four\nfive six"}},
		{"a list keeps its indentation", "- one one one\n  - two\n  - three", 20, []string{"- one one one", "  - two\n  - three"}},
		{"between sentences", "One is one. Two is two. Three", 14, []string{"One is one.", "Two is two.", "Three"}},
		{"between sentences without spaces", "一二三四。五六七八。", 6, []string{"一二三四。", "五六七八。"}},
		{"between words", "one two three four", 9, []string{"one two", "three", "four"}},
		{"right before a space", "three four", 5, []string{"three", "four"}},
		{"within a word", "abcdefgh", 3, []string{"abc", "def", "gh"}},
		{"characters, not bytes", "ééééé", 3, []string{"ééé", "éé"}},
		{"blank parts are left out", "one" + strings.Repeat(" ", 30) + "two", 5, []string{"one", "two"}},
		{
			"a code fence is closed and opened again",
			"Look:\n\n```go\nfirst()\n  second()\nthird()\n```\n\nDone.", 32,
			[]string{"Look:\n\n```go\nfirst()\n```", "```go\n  second()\nthird()\n```", "Done."},
		},
		{
			"a code fence is not left without its code",
			"A line before the code.\n```go\nfirst()\nsecond()\n```", 34,
			[]string{"A line before the code.", "```go\nfirst()\nsecond()\n```"},
		},
		{
			"tildes, and backticks within",
			"~~~\n```\naaaaaaaaaaaa\nbbbbbbbbbbbb\n~~~\nend", 28,
			[]string{"~~~\n```\naaaaaaaaaaaa\n~~~", "~~~\nbbbbbbbbbbbb\n~~~\nend"},
		},
		{"code is not cut", "one two `three four five` six", 21, []string{"one two", "`three four five` six"}},
		{"nor code with line breaks", "one. two `three\nfour five` six", 21, []string{"one. two", "`three\nfour five` six"}},
		{"nor a link", "one two [three four](http://a.b) five", 30, []string{"one two", "[three four](http://a.b) five"}},
		{"nor bold text", "one two three **four five. six** seven", 28, []string{"one two three", "**four five. six** seven"}},
		{"unless it is too long itself", "**one two three four five**", 15, []string{"**one two three", "four five**"}},
		{"a lone mark is no span", "one ` two three four five", 15, []string{"one ` two three", "four five"}},
		{
			"too small for fences",
			"```go\naaaa\nbbbb\n```", 8,
			[]string{"```go", "aaaa", "bbbb\n```"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, markdown.Split(tt.text, tt.limit))
		})
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("Look:\n\n```go\nfirst()\n  second()\nthird()\n```\n\nDone.", 24)
	f.Add(strings.Repeat("Some words. And more! 👩‍👩‍👧 \n", 40), 100)
	f.Add("~~~~\n```\n"+strings.Repeat("x", 200)+"\n~~~~\n", 40)
	f.Add("\xff\xfe```\n"+strings.Repeat("a b", 30), 7)
	f.Add("``````````\n\n`\n```", 17)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 1 + max(limit, -limit-1)%1000
		parts := markdown.Split(text, limit)
		require.Equal(t, parts, markdown.Split(text, limit))
		for _, part := range parts {
			require.LessOrEqual(t, utf8.RuneCountInString(part), limit)
			require.NotEmpty(t, strings.TrimSpace(part))
			require.True(t, !utf8.ValidString(text) || utf8.ValidString(part))
		}
		whole, got := bare(text), bare(strings.Join(parts, ""))
		if strings.Contains(whole, "```") || strings.Contains(whole, "~~~") {
			require.True(t, hasAllOf(got, whole), "%q lost something: %q", text, parts)
		} else {
			require.Equal(t, whole, got)
		}
	})
}

// bare returns text without white space.
func bare(text string) string {
	return strings.Join(strings.FieldsFunc(text, unicode.IsSpace), "")
}

// hasAllOf reports whether the bytes of part are in text, in their order.
func hasAllOf(text, part string) bool {
	for i := range len(part) {
		at := strings.IndexByte(text, part[i])
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
	return true
}
