package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// TestUserWithoutPasswdEntry is `docker run --user 12345`: no name, no HOME, and here not
// even a PATH.
func TestUserWithoutPasswdEntry(t *testing.T) {
	t.Parallel()
	model := llmtest.NewServer(t,
		llmtest.Calls(llmtest.Call{ID: "w", Name: "write_file", Arguments: `{"path":"a.txt","content":"text of a file"}`}),
		llmtest.Calls(llmtest.Call{ID: "e", Name: "exec", Arguments: `{"command":"cat a.txt && ls -d \"$HOME\" && id -u"}`}),
		llmtest.Text("done"))
	h := newHome(t, model.URL)
	h.environ = slices.DeleteFunc(h.environ, func(variable string) bool {
		return strings.HasPrefix(variable, "PATH=") || strings.HasPrefix(variable, "HOME=")
	})
	uid := os.Getuid()
	if uid == 0 {
		uid = stranger()
		for _, dir := range []string{h.dir, filepath.Dir(h.dir)} {
			require.NoError(t, os.Chown(dir, uid, uid))
		}
		h.user = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	p := h.start(t)
	require.NotEmpty(t, p.info.API, "it did not start")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	receipt, err := p.api().Send(ctx, "main", "", "hello")
	require.NoError(t, err)
	reply, err := p.api().Follow(ctx, receipt.ID, nil)
	require.NoError(t, err)
	require.Equal(t, "done", reply.Text)
	require.Contains(t, model.Requests()[2].Results()[0], fmt.Sprintf("text of a file%s\n%d\n", filepath.Join(h.dir, "workspace"), uid))
	for _, dir := range []string{"data", "workspace"} {
		info, err := os.Stat(filepath.Join(h.dir, dir))
		require.NoError(t, err)
		require.Equal(t, os.ModeDir|0o700, info.Mode())
	}
}

// stranger returns a user ID without an entry in /etc/passwd. With cgo the engine needs
// one.
func stranger() int {
	build, _ := debug.ReadBuildInfo()
	if build != nil && slices.Contains(build.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"}) {
		return 65534
	}
	return 12345
}
