package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// testLink matches how docs/parity.md names a test: [package.TestName/subtest](file).
var testLink = regexp.MustCompile(`\[(\w+)\.((?:Test|Fuzz|Benchmark)\w+)(?:/([^\]]+))?\]\(\.\./([^)]+_test\.go)\)`)

// TestParityPage checks that docs/parity.md has all rows and that each names existing
// tests or says "not yet".
func TestParityPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/parity.md")
	require.NoError(t, err)
	suites := sources(t, "../store", "../llm/llmtest", "../../channels/channeltest", "../platformtest")
	rows := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		row := strings.TrimPrefix(cells[0], "| ")
		if !strings.HasPrefix(line, "| ") || row == "" || row == "#" {
			continue
		}
		require.Len(t, cells, 4, line)
		require.False(t, rows[row], "%s is there twice", row)
		rows[row] = true
		named := checkTests(t, row, cells[3], suites)
		require.True(t, named > 0 || strings.Contains(line, "not yet"), "%s: neither a test nor `not yet`", row)
	}
	for _, span := range [][2]int{{1, 7}, {10, 18}, {20, 24}, {30, 35}, {40, 46}, {50, 52}, {60, 63}, {70, 75}} {
		for i := span[0]; i <= span[1]; i++ {
			require.True(t, rows[fmt.Sprintf("P%d", i)], "P%d is missing", i)
		}
	}
}

// TestDurabilityPage checks that each row of the table of edge cases in docs/durability.md
// names existing tests.
func TestDurabilityPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/durability.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## Edge cases\n")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, " | "); len(cells) == 3 && cells[2] != "shown by |\n" {
			require.Positive(t, checkTests(t, cells[1], cells[2], ""), line)
			rows++
		}
	}
	require.Positive(t, rows)
}

// checkTests checks that the tests linked in a cell exist, and returns their number.
// Suites is the code of shared test suites, which may have their subtests.
func checkTests(t *testing.T, row, cell, suites string) int {
	t.Helper()
	links := testLink.FindAllStringSubmatch(cell, -1)
	require.Equal(t, strings.Count(cell, "]("), len(links), "%s: a link that names no test", row)
	for _, link := range links {
		file, err := os.ReadFile(filepath.Join("../..", link[4]))
		require.NoError(t, err, row)
		require.Regexp(t, `(?m)^package `+link[1]+`(_test)?$`, string(file), row)
		require.Contains(t, string(file), "func "+link[2]+"(", row)
		if link[3] != "" {
			require.True(t, hasSubtest(string(file)+suites, link[3]), "%s: no subtest %q", row, link[3])
		}
	}
	return len(links)
}

// hasSubtest reports whether Go code has the name of a subtest, or of each in a path
// of them, as a string literal.
func hasSubtest(code, name string) bool {
	if strings.Contains(code, strconv.Quote(name)) {
		return true
	}
	outer, inner, nested := strings.Cut(name, "/")
	return nested && outer != "" && hasSubtest(code, outer) && hasSubtest(code, inner)
}

// sources returns all Go files of the directories, concatenated.
func sources(t *testing.T, folders ...string) string {
	t.Helper()
	var all strings.Builder
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, folder)
		for _, name := range files {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			all.Write(data)
		}
	}
	return all.String()
}

// TestChannelsPage checks that docs/channels.md has a row for each chat platform, and that
// its cells name existing tests.
func TestChannelsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/channels.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## What is kept\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	scenarios := sources(t, "../platformtest")
	rows := map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		page := regexp.MustCompile(`\]\((\w+)\.md\)`).FindStringSubmatch(cells[0])
		if len(cells) != 4 || page == nil {
			continue
		}
		rows[page[1]] = true
		for _, cell := range cells[1:] {
			require.Positive(t, checkTests(t, page[1], cell, scenarios), "%s: no test shows %q", page[1], cell)
		}
	}
	for _, p := range node.Platforms(config.Channels{}) {
		require.True(t, rows[p.Name], "%s has no row", p.Name)
	}
}
