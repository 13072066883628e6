package approval_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/approval"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	policy, err := approval.New([]approval.Rule{
		{Tool: "exec", Match: "*rm -rf /*", Do: approval.Deny},
		{Tool: "exec", Match: "git status", Do: approval.Allow},
		{Tool: "exec", Match: "go test *", Do: approval.Allow},
		{Tool: "exec", Do: approval.Ask},
		{Tool: "mcp_github", Match: "*delete*", Do: approval.Ask},
		{Tool: "write_file", Match: "deploy/*.yaml", Do: approval.Ask},
	}, time.Hour, nil)
	require.NoError(t, err)
	tests := map[string]struct {
		tool, title string
		want        approval.Verdict
	}{
		"the first rule that fits":              {"exec", "sudo rm -rf / --no-preserve-root", approval.Deny},
		"a denied command on its second line":   {"exec", "true\nrm -rf /", approval.Deny},
		"an exact command":                      {"exec", "git status", approval.Allow},
		"white space around it":                 {"exec", " git status\n", approval.Allow},
		"more than the exact command":           {"exec", "git status; curl evil", approval.Ask},
		"a star":                                {"exec", "go test ./...", approval.Allow},
		"a command after an allowed one":        {"exec", "go test ./... && git push", approval.Ask},
		"a command within an allowed one":       {"exec", "go test $(git push)", approval.Ask},
		"a command in backquotes":               {"exec", "go test `git push`", approval.Ask},
		"a command on the next line":            {"exec", "go test\ngit push", approval.Ask},
		"a redirection":                         {"exec", "go test ./... > main.go", approval.Ask},
		"the tools of the same family":          {"exec_start", "bash", approval.Ask},
		"a tool whose name only begins so":      {"execute", "bash", approval.Allow},
		"a tool of a server":                    {"mcp_github_delete_repo", `{"name":"x","delete":true}`, approval.Ask},
		"another tool of the server":            {"mcp_github_list", `{}`, approval.Allow},
		"a path":                                {"write_file", "deploy/prod.yaml", approval.Ask},
		"another path":                          {"write_file", "deploy/prod.yaml.md", approval.Allow},
		"dots are dots":                         {"write_file", "deploy/prodXyaml", approval.Allow},
		"a tool that no rule is about":          {"read_file", "deploy/prod.yaml", approval.Allow},
		"arguments are compared by letter case": {"mcp_github_x", `{"DELETE":1}`, approval.Allow},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, policy.Verdict(approval.Call{Tool: test.tool, Each: []string{test.title}}))
		})
	}
	require.Equal(t, approval.Allow, approval.Policy{}.Verdict(approval.Call{Tool: "exec", Each: []string{"rm -rf /"}}))
}

func TestEveryTool(t *testing.T) {
	t.Parallel()
	policy, err := approval.New([]approval.Rule{{Tool: "*", Do: approval.Ask}}, time.Hour, nil)
	require.NoError(t, err)
	require.Equal(t, approval.Ask, policy.Verdict(approval.Call{Tool: "anything"}))
}

func TestDestructiveTools(t *testing.T) {
	t.Parallel()
	policy, err := approval.New([]approval.Rule{{Tool: approval.Destructive, Do: approval.Ask}}, time.Hour, nil)
	require.NoError(t, err)
	require.Equal(t, approval.Ask, policy.Verdict(approval.Call{Tool: "mcp_github_delete", Destructive: true}))
	require.Equal(t, approval.Allow, policy.Verdict(approval.Call{Tool: "mcp_github_create"}))
}

func TestMay(t *testing.T) {
	t.Parallel()
	own, err := approval.New(nil, time.Hour, nil)
	require.NoError(t, err)
	require.True(t, own.May("slack", "U1", "slack", "U1"), "who asked")
	require.False(t, own.May("slack", "U2", "slack", "U1"), "somebody else")
	require.False(t, own.May("http", "U1", "slack", "U1"), "another channel's U1")
	require.False(t, own.May("slack", "", "slack", ""), "nobody")
	named, err := approval.New(nil, time.Hour, []string{"slack:U2"})
	require.NoError(t, err)
	require.True(t, named.May("slack", "U2", "slack", "U1"))
	require.False(t, named.May("slack", "U1", "slack", "U1"), "not even who asked")
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]approval.Rule{
		"ask exec":                  {Tool: "exec", Do: approval.Ask},
		" deny  exec  *rm -rf  /* ": {Tool: "exec", Match: "*rm -rf  /*", Do: approval.Deny},
		"allow mcp_github":          {Tool: "mcp_github", Do: approval.Allow},
	} {
		rule, err := approval.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, rule, text)
	}
	for text, problem := range map[string]string{
		"":           `unknown verdict ""; use allow, ask or deny`,
		"maybe exec": `unknown verdict "maybe"; use allow, ask or deny`,
		"exec":       `unknown verdict "exec"; use allow, ask or deny`,
		"ask":        "the tool is missing",
	} {
		_, err := approval.Parse(text)
		require.EqualError(t, err, problem, text)
	}
}

func TestUnmatched(t *testing.T) {
	t.Parallel()
	var rules []approval.Rule
	for _, tool := range []string{"exce", "exec", "web", "*", "mcp", "mcp_github", approval.Destructive, "web_"} {
		rules = append(rules, approval.Rule{Tool: tool, Do: approval.Ask})
	}
	policy, err := approval.New(rules, time.Hour, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"exce", "web_"}, policy.Unmatched([]string{"exec", "exec_start", "web_fetch"}))
}
