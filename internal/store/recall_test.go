package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

func recall(t *testing.T, b *bundle) {
	for i, text := range []string{"The harbour has a red lighthouse", "Ana likes tea with mılk", `what "quoted OR (words' do`, strings.Repeat("long ", 30_000), strings.Repeat("ä ", 500) + "(Needle!)" + strings.Repeat(" ö", 500)} {
		id := string(rune('a' + i))
		in := message(id)
		in.Text = text
		_, _, err := b.Accept(t.Context(), in)
		require.NoError(t, err)
		input := step(id, 1, id)
		input.Scope = func(in domain.Inbound) string { return "scope-" + in.Sender }
		b.begin(t, input)
		b.complete(t, id, 1)
	}
	for name, tt := range map[string]struct {
		scope, but, words string
		want              []string // turns
	}{
		"all the words":        {"scope-ana", "", "LIGHTHOUSE red", []string{"a"}},
		"some of the words":    {"scope-ana", "", "lighthouse tea", []string{"a", "b"}},
		"another scope":        {"scope-ben", "", "lighthouse", nil},
		"not the running turn": {"scope-ana", "a", "lighthouse", nil},
		"nothing":              {"scope-ana", "", "zebra", nil},
		"signs of the query":   {"scope-ana", "", `quoted" "(words' - * : NEAR`, []string{"c"}},
		"only signs":           {"scope-ana", "", `" ( * :`, nil},
	} {
		found, err := b.Recall(t.Context(), tt.scope, tt.but, strings.Fields(tt.words), 10)
		require.NoError(t, err, name)
		var turns []string
		for _, r := range found {
			turns = append(turns, r.Turn)
		}
		require.ElementsMatch(t, tt.want, turns, name)
	}
	found, err := b.Recall(t.Context(), "scope-ana", "", []string{"lighthouse"}, 10)
	require.NoError(t, err)
	require.Contains(t, found[0].Snippet, "red lighthouse")
	require.Equal(t, session, found[0].Session)
	found, err = b.Recall(t.Context(), "scope-ana", "", []string{"long"}, 10)
	require.NoError(t, err)
	require.Less(t, len(found[0].Snippet), 1000)
	found, err = b.Recall(t.Context(), "scope-ana", "", []string{"eed", "NEEDLE"}, 10)
	require.NoError(t, err)
	require.Regexp(t, `^… .{50,100}\(Needle!\).{50,200} …$`, found[0].Snippet)
}
