package skill_test

import (
	"encoding/xml"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/skill"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	require.Empty(t, skill.Summary("/w", nil))
	require.Equal(t, `<skills>
<skill available="true"><name>a</name><description>Cut &lt;b&gt; &amp; "paste"</description><location>skills/a/SKILL.md</location></skill>
<skill available="false"><name>b</name><description>B</description><location>skills/b/SKILL.md</location><requires>CLI: x, ENV: Y</requires></skill>
</skills>`, skill.Summary("/w", []skill.Skill{
		{Name: "a", Description: `Cut <b> & "paste"`, Location: "/w/skills/a/SKILL.md", Available: true},
		{Name: "b", Description: "B", Location: "/w/skills/b/SKILL.md", Missing: []string{"CLI: x", "ENV: Y"}},
	}))
}

func TestSummaryIsBounded(t *testing.T) {
	t.Parallel()
	var skills []skill.Skill
	for i := range 1000 {
		skills = append(skills, skill.Skill{Name: strconv.Itoa(i), Description: strings.Repeat("d", 1000), Location: "/w"})
	}
	summary := skill.Summary("/w", skills)
	require.Less(t, len(summary), 65<<10)
	require.Contains(t, summary, " more are not listed -->\n</skills>")
	var parsed struct {
		Skill []struct {
			Name string `xml:"name"`
		} `xml:"skill"`
	}
	require.NoError(t, xml.Unmarshal([]byte(summary), &parsed))
	require.Greater(t, len(parsed.Skill), 50)
	require.Equal(t, "0", parsed.Skill[0].Name)
}

func TestActive(t *testing.T) {
	t.Parallel()
	require.Empty(t, skill.Active(nil))
	require.Equal(t, "## Skill: a\n\n# A\n\n## Skill: e\n\nE", skill.Active([]skill.Skill{
		{Name: "a", Always: true, Available: true, Active: true, Text: "# A"},
		{Name: "b", Available: true, Text: "not always"},
		{Name: "c", Always: true, Text: "not available"},
		{Name: "d", Always: true, Available: true, Text: "no room"},
		{Name: "e", Always: true, Available: true, Active: true, Text: "E"},
	}))
}
