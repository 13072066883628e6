package skill_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/skill"
)

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       skill.Skill // Location and Available are not compared
	}{
		{
			"nanobot's JSON on a line", "---\nname: gh\ndescription: \"Use `gh`: issues & more.\"\nmetadata: {\"nanobot\":{\"emoji\":\"🐙\",\"requires\":{\"bins\":[\"gh\"]},\"install\":[{\"id\":\"apt\",\"bins\":[\"gh\"]}]}}\n---\n\n# GitHub\n",
			skill.Skill{Name: "gh", Description: "Use `gh`: issues & more.", Missing: []string{"CLI: gh"}, Text: "# GitHub"},
		},
		{
			"nanobot's JSON as a text", "---\ndescription: Python tools\nmetadata: |-\n  {\n    \"nanobot\": {\n      \"always\": true,\n      \"requires\": {\"bins\": [\"python3\", \"pip\"], \"env\": []}\n    }\n  }\n---\n\n# Python\n",
			skill.Skill{Name: "f", Description: "Python tools", Always: true, Missing: []string{"CLI: python3", "CLI: pip"}, Text: "# Python"},
		},
		{
			"nanobot's JSON in quotes", "---\nmetadata: '{\"nanobot\":{\"requires\":{\"env\":[\"KEY\"]}}}'\n---\n",
			skill.Skill{Name: "f", Description: "f", Missing: []string{"ENV: KEY"}},
		},
		{
			"nanobot's requirements given twice", "---\nrequires: |-\n  {\"nanobot\": {\"always\": false, \"requires\": {\"bins\": [\"pip\"]}}}\nmetadata: |-\n  {\"nanobot\": {\"always\": false, \"requires\": {\"bins\": [\"pip\"]}}}\n---\n",
			skill.Skill{Name: "f", Description: "f", Missing: []string{"CLI: pip"}},
		},
		{
			"nanobot's always", "---\nname: memory\ndescription: Two layers\nalways: true\n---\ntext",
			skill.Skill{Name: "memory", Description: "Two layers", Always: true, Text: "text"},
		},
		{
			"a description with a colon, which is no YAML", "---\nname: x\ndescription: Use it: often\nalways: yes\nmetadata: {\"nanobot\":{\"requires\":{\"bins\":[\"x\"]}}}\n---\ntext",
			skill.Skill{Name: "x", Description: "Use it: often", Always: true, Missing: []string{"CLI: x"}, Text: "text"},
		},
		{
			"ours", "---\nname: x\ndescription: >\n  Two\n  lines\nholdfast:\n  always: true\n  requires:\n    bins: [a, a, b]\n    env: T\n---\ntext\n---\nmore\n",
			skill.Skill{Name: "x", Description: "Two lines", Always: true, Missing: []string{"CLI: a", "CLI: b", "ENV: T"}, Text: "text\n---\nmore"},
		},
		{"Windows line ends and trailing blanks", "---  \r\nname: x\r\n---\t\r\ntext\r\n", skill.Skill{Name: "x", Description: "x", Text: "text"}},
		{"broken in the middle", "---\nname: x\ndescription: [\nholdfast:\n  always: true\n---\ntext", skill.Skill{Name: "x", Description: "[", Always: true, Text: "text"}},
		{"broken all over", "---\n\t{{{:\n%%%\n: :\n---\ntext", skill.Skill{Name: "f", Description: "f", Text: "text"}},
		{"a list", "---\n- a\n- b\n---\ntext", skill.Skill{Name: "f", Description: "f", Text: "text"}},
		{"values of other types", "---\nname: 7\ndescription: {a: b}\nalways: [true]\nholdfast: 3\nmetadata: [1]\nrequires: no\n---\ntext", skill.Skill{Name: "7", Description: "7", Text: "text"}},
		{"metadata that is broken JSON", "---\nname: x\nmetadata: '{\"nanobot\": {\"always\": tr'\n---\ntext", skill.Skill{Name: "x", Description: "x", Text: "text"}},
		{"never closed", "---\nname: x\ntext", skill.Skill{Name: "f", Description: "f", Text: "---\nname: x\ntext"}},
		{"closed at the end", "---\nname: x\n---", skill.Skill{Name: "x", Description: "x"}},
		{"empty", "---\n---\ntext", skill.Skill{Name: "f", Description: "f", Text: "text"}},
		{"an empty file", "", skill.Skill{Name: "f", Description: "f"}},
		{"a rule in the text", "text\n---\nname: x\n---\n", skill.Skill{Name: "f", Description: "f", Text: "text\n---\nname: x\n---"}},
		{"a name of several lines", "---\nname: |\n  a\n  b\n---\n", skill.Skill{Name: "a b", Description: "a b"}},
		{"a control character", "---\nname: \"a\\eb\"\n---\n", skill.Skill{Name: "a b", Description: "a b"}},
		{"an alias into itself", "---\nname: x\nholdfast: &a {requires: *a}\n---\ntext", skill.Skill{Name: "x", Description: "x", Text: "text"}},
		{"a key given twice", "---\nname: x\nname: y\n---\ntext", skill.Skill{Name: "y", Description: "y", Text: "text"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "skills/f/SKILL.md", tt.text)
			got := own(t, dir, nothing)[0]
			got.Location, got.Available, got.Active, got.Problem = "", false, false, ""
			require.Equal(t, tt.want, got)
		})
	}
}

func FuzzFrontMatter(f *testing.F) {
	for _, seed := range []string{
		"---\nname: x\nmetadata: {\"nanobot\":{\"requires\":{\"bins\":[\"gh\"]}}}\n---\ntext",
		"---\nholdfast:\n  requires:\n    env: [A, *b]\n---\n", "---\n&a [*a]\n---", "---\n? {}\n: !!binary x\n---\n", "---\r\n\xff: \x00\n--- \n",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		write(t, dir, "skills/f/SKILL.md", text)
		s := own(t, dir, nothing)[0]
		require.NotEmpty(t, s.Name)
		require.LessOrEqual(t, len(s.Name), 64)
		require.LessOrEqual(t, len(s.Description), 1024)
		for _, part := range append(s.Missing, s.Name, s.Description) {
			require.True(t, utf8.ValidString(part))
			require.False(t, strings.ContainsAny(part, "\n\x00"), part)
		}
		require.True(t, utf8.ValidString(s.Text))
	})
}
