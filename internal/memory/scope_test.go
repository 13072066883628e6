package memory_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

func TestScopeOf(t *testing.T) {
	t.Parallel()
	for kind, want := range map[memory.Kind]string{
		"": "workspace", memory.Workspace: "workspace", memory.Chat: "channel-slack-T1-C1", memory.Sender: "sender-slack-T1-U2",
	} {
		scope, err := memory.ScopeOf(kind, "slack", "T1/C1", "T1/U2")
		require.NoError(t, err)
		require.Equal(t, want, scope.String())
	}
	_, err := memory.ScopeOf("person", "slack", "C", "U")
	require.ErrorContains(t, err, `unknown memory scope "person"`)
}

func TestScopeNamesAreUnique(t *testing.T) {
	t.Parallel()
	ids := []string{
		"", "U2", "u2", "U2 ", "U-2", "U/2", "U//2", "/U2", "U2/", "T1/U2", "T1-U2", "T1/U2/X", "T1", ".", "..", "../..", "ana@example.com", "ana-example-com",
		"ana/example/com", "ANA", "ana", "Ana", "é", "e\u0301", "\xff", "\x00", "U2\n", "12345", "-12345", "+12345", "A~B", "A_B", "A/B",
		strings.Repeat("A", 70), strings.Repeat("A", 200), strings.Repeat("A", 201), strings.Repeat("ü", 500),
	}
	// A plain name must not equal a hashed name.
	hashed := memory.Scope{Kind: memory.Sender, Channel: "http", ID: "ana"}.String()
	ids = append(ids, strings.ToUpper(strings.TrimPrefix(hashed, "sender-http-")), strings.ToUpper(strings.NewReplacer("sender-http-", "", "~", "/").Replace(hashed)))

	fit := regexp.MustCompile(`^(channel|sender)-[A-Za-z0-9_-]+(~[a-z2-7]{16})?$`)
	seen := map[string]memory.Scope{}
	for _, kind := range []memory.Kind{memory.Chat, memory.Sender} {
		for _, channel := range []string{"slack", "slack-T1", "slack/T1", "Slack", "http", "T1", "x"} {
			for _, id := range ids {
				scope := memory.Scope{Kind: kind, Channel: channel, ID: id}
				name := scope.String()
				require.Regexp(t, fit, name)
				require.LessOrEqual(t, len(name), 100)
				folded := strings.ToLower(name)
				require.NotContains(t, seen, folded, fmt.Sprintf("%q and %q", scope, seen[folded]))
				seen[folded] = scope
			}
		}
	}
}
