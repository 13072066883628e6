package activities_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/approval"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/fs"
	"github.com/holdfast-ai/holdfast/internal/tool/message"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
)

// pathTools are the tools that take paths, on a workspace that is reached through a
// symbolic link and has another one, short, to its folder secrets.
func pathTools(t *testing.T) (workspace string, tools *tool.Registry) {
	t.Helper()
	real := filepath.Join(t.TempDir(), "real")
	for _, dir := range []string{"secrets", "skills/x", "notes"} {
		require.NoError(t, os.MkdirAll(filepath.Join(real, dir), 0o700))
	}
	workspace = filepath.Join(t.TempDir(), "workspace")
	require.NoError(t, os.Symlink(real, workspace))
	require.NoError(t, os.Symlink("secrets", filepath.Join(real, "short")))
	files, err := fs.New(fs.Options{Workspace: workspace})
	require.NoError(t, err)
	commands, err := supervisor.New(supervisor.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	stored := newStore(t)
	exec, err := shell.New(shell.Options{Supervisor: commands, Places: stored, Workspace: workspace})
	require.NoError(t, err)
	sessions, err := shell.NewSessions(shell.Options{Supervisor: commands, Places: stored, Workspace: workspace})
	require.NoError(t, err)
	tools = &tool.Registry{}
	require.NoError(t, tools.Register(slices.Concat(files, sessions, []tool.Tool{exec, message.New(message.Options{Workspace: workspace})})...))
	return workspace, tools
}

func TestApprovalRulesMatchPathsHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	workspace, tools := pathTools(t)
	real, err := filepath.EvalSymlinks(workspace)
	require.NoError(t, err)
	patch := func(lines ...string) string {
		encoded, err := json.Marshal(map[string]string{"patch": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"})
		require.NoError(t, err)
		return string(encoded)
	}
	tests := []struct {
		name, rule, tool, arguments string
		want                        approval.Verdict // allow: the rule does not match
	}{
		{"as written", "ask write_file skills/*", "write_file", `{"path":"skills/x/SKILL.md"}`, approval.Ask},
		{"through another folder", "ask write_file skills/*", "write_file", `{"path":"notes/../skills/x/SKILL.md"}`, approval.Ask},
		{"with a dot", "deny read_file secrets/*", "read_file", `{"path":"./secrets/key"}`, approval.Deny},
		{"with slashes", "deny read_file secrets/*", "read_file", `{"path":"secrets//key"}`, approval.Deny},
		{"in letters of JSON", "deny read_file secrets/*", "read_file", `{"path":"\u002e/secrets/key"}`, approval.Deny},
		{"absolute", "deny read_file secrets/*", "read_file", `{"path":"` + workspace + `/secrets/key"}`, approval.Deny},
		{"absolute, without the link to the workspace", "deny read_file secrets/*", "read_file", `{"path":"` + real + `/secrets/key"}`, approval.Deny},
		{"through a link", "deny read_file secrets/*", "read_file", `{"path":"short/key"}`, approval.Deny},
		{"a rule about the link", "deny read_file short/*", "read_file", `{"path":"notes/../short/key"}`, approval.Deny},
		{"a folder", "deny list_dir secrets/*", "list_dir", `{"path":"secrets"}`, approval.Deny},
		{"the workspace", "ask list_dir .", "list_dir", `{}`, approval.Ask},
		{"outside", "deny read_file /etc/*", "read_file", `{"path":"/usr/../etc/passwd"}`, approval.Deny},
		{"outside, from here", "deny read_file /etc/*", "read_file", `{"path":"` + strings.Repeat("../", 20) + `etc/passwd"}`, approval.Deny},
		{"a rule with a dot", "deny edit_file ./secrets/*", "edit_file", `{"path":"secrets/key"}`, approval.Deny},
		{"an absolute rule", "deny edit_file " + workspace + "/secrets/*", "edit_file", `{"path":"secrets/key"}`, approval.Deny},
		{"elsewhere", "deny read_file secrets/*", "read_file", `{"path":"notes/secrets"}`, approval.Allow},
		{"where is searched", "deny grep secrets/*", "grep", `{"pattern":"x","path":"./secrets"}`, approval.Deny},
		{"what is searched for", "ask find_files *.pem", "find_files", `{"pattern":"*.pem"}`, approval.Ask},
		{
			"a file of a patch", "ask apply_patch skills/*", "apply_patch",
			patch("*** Add File: a.md", "+a", "*** Delete File: ./skills/x/SKILL.md"), approval.Ask,
		},
		{
			"where a patch moves a file", "ask apply_patch skills/*", "apply_patch",
			patch("*** Update File: a.md", "*** Move to: notes/../skills/x/SKILL.md"), approval.Ask,
		},
		{"another way to write", "ask write_file skills/*", "edit_file", `{"path":"./skills/x/SKILL.md"}`, approval.Ask},
		{
			"another way to write, in a patch", "deny write_file skills/*", "apply_patch",
			patch("*** Update File: a.md", "*** Move to: notes/../skills/x/SKILL.md"), approval.Deny,
		},
		{"to read is not to write", "ask write_file skills/*", "read_file", `{"path":"skills/x/SKILL.md"}`, approval.Allow},
		{"a file that is sent", "deny message secrets/*", "message", `{"content":"look","files":["a.txt","./secrets/key"]}`, approval.Deny},
		{"where a command runs", "ask exec secrets/*", "exec", `{"command":"cat key","working_dir":"./secrets"}`, approval.Ask},
		{"where a session runs", "ask exec secrets", "exec_start", `{"command":"cat key","working_dir":"notes/../secrets"}`, approval.Ask},
		{"a command", "ask exec cat *", "exec", `{"command":"cat key","working_dir":"notes"}`, approval.Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, verdict(t, tools, tt.tool, tt.arguments, tt.rule))
		})
	}

	t.Run("what is allowed by path is allowed there only", func(t *testing.T) {
		t.Parallel()
		rules := []string{"allow write_file notes/*", "allow apply_patch notes/*", "allow apply_patch skills/*", "allow exec make", "ask *"}
		require.Equal(t, approval.Allow, verdict(t, tools, "write_file", `{"path":"./notes/a.md"}`, rules...))
		require.Equal(t, approval.Ask, verdict(t, tools, "write_file", `{"path":"notes/../skills/x/SKILL.md"}`, rules...))
		require.NoError(t, os.Symlink("../skills", filepath.Join(workspace, "notes/link")))
		require.Equal(t, approval.Ask, verdict(t, tools, "write_file", `{"path":"notes/link/x/SKILL.md"}`, rules...))
		require.Equal(t, approval.Ask, verdict(t, tools, "write_file", `{"path":"notes"}`, rules...))
		require.Equal(t, approval.Ask, verdict(t, tools, "edit_file", `{"path":"notes/a.md"}`, rules...), "only what is named is allowed")
		require.Equal(t, approval.Allow, verdict(t, tools, "apply_patch", patch("*** Delete File: notes/a", "*** Delete File: skills/b"), rules...))
		require.Equal(t, approval.Ask, verdict(t, tools, "apply_patch", patch("*** Delete File: notes/a", "*** Delete File: b"), rules...))
		require.Equal(t, approval.Allow, verdict(t, tools, "exec", `{"command":"make","working_dir":"notes"}`, rules...))
	})
}

// verdict is what rules say about a call.
func verdict(t *testing.T, tools *tool.Registry, name, arguments string, rules ...string) approval.Verdict {
	t.Helper()
	var parsed []approval.Rule
	for _, text := range rules {
		rule, err := approval.Parse(text)
		require.NoError(t, err)
		parsed = append(parsed, rule)
	}
	policy, err := approval.New(parsed, time.Hour, nil)
	require.NoError(t, err)
	found, err := tools.Lookup(t.Context(), name)
	require.NoError(t, err)
	about := found.Subject([]byte(arguments))
	return policy.Verdict(approval.Call{Tool: name, Each: about.Each, Also: about.Also})
}

func TestQuestionsShowWhichFilesTheyAreAbout(t *testing.T) {
	t.Parallel()
	b := setup(t, calls(1, "write_file", `{"path":"notes/../skills/x/SKILL.md","content":"x"}`))
	policy, err := approval.New([]approval.Rule{{Tool: "write_file", Match: "skills/*", Do: approval.Ask}}, time.Hour, nil)
	require.NoError(t, err)
	b.options.Approvals.Policy = policy
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
	_, tools := pathTools(t)
	write, err := tools.Lookup(t.Context(), "write_file")
	require.NoError(t, err)
	require.NoError(t, b.tools.Register(write))
	b.accept(t, "m1", "do it", true)
	_, err = b.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	result, err := execute[protocol.CallToolResult](t, b.agent.CallTool, protocol.CallToolInput{Session: session, Turn: "m1", Step: 1})
	require.NoError(t, err)
	out, err := b.store.Outbox(t.Context(), result.Approval.Outbox)
	require.NoError(t, err)
	require.Contains(t, out.Text, "\npaths: skills/x/SKILL.md\n")
}
