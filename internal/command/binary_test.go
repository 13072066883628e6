package command

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// binary is the real program, built with failpoints once for all tests.
var binary = sync.OnceValues(func() (string, error) { return buildBinary("dev") })

// buildBinary builds the program with failpoints and returns its path.
func buildBinary(version string) (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(root))
	path := filepath.Join(os.TempDir(), "holdfast-test-"+hex.EncodeToString(sum[:4]), "holdfast-"+version)
	flags := "-s -w -X github.com/holdfast-ai/holdfast/internal/build.Version=" + version
	build := exec.Command("go", "build", "-tags", "failpoint", "-ldflags", flags, "-o", path, root)
	build.Stderr = os.Stderr
	return path, build.Run()
}

// process is a running `holdfast up` or another long-running command.
type process struct {
	command *exec.Cmd
	ready   chan struct{} // closed once it is
	exited  chan struct{} // closed at exit
	info    node.RunInfo
	home    *home
}

// home is a Holdfast home for one process after another.
type home struct {
	dir     string
	environ []string
	user    *syscall.Credential // nil: this one
	log     io.Writer           // of its processes; nil: the test's output
	binary  string              // their program; empty: [binary]
	owner   testing.TB          // at whose end they are killed; nil: of the test that starts them
	turn    int                 // of crash tests: its message has an ID and a session of its own
	before  int                 // model calls of the turns before
}

// newHome returns a home with free ports whose model is at url.
func newHome(t testing.TB, url string) *home {
	t.Helper()
	dir := t.TempDir()
	h := &home{dir: dir, environ: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GOGC=" + os.Getenv("GOGC"), "HOLDFAST_HOME=" + dir,
		"HOLDFAST_TEMPORAL_PORT=0", "HOLDFAST_TEMPORAL_UI_PORT=0", "HOLDFAST_CHANNELS_HTTP_LISTEN=127.0.0.1:0",
		"HOLDFAST_MODEL=custom/model", "HOLDFAST_PROVIDERS_CUSTOM_BASE_URL=" + url, "HOLDFAST_PROVIDERS_CUSTOM_API_KEY=key",
	}}
	if _, measured := t.(*testing.B); !measured {
		h.environ = append(h.environ, "HOLDFAST_ENGINE_DURABILITY="+config.DurabilityNormal) // no test cuts the power
	}
	return h
}

func (h *home) workspace(file string) string { return filepath.Join(h.dir, "workspace", file) }

// start runs `holdfast up` and returns once it is ready or has exited.
func (h *home) start(t testing.TB, environ ...string) *process {
	t.Helper()
	return h.run(t, "up", environ...)
}

// run is start for another long-running command.
func (h *home) run(t testing.TB, command string, environ ...string) *process {
	t.Helper()
	p := h.launch(t, command, environ...)
	select {
	case <-p.ready:
	case <-p.exited:
		return p
	case <-t.Context().Done():
		t.Fatal("not ready")
	}
	raw, err := os.ReadFile(node.RunFile(filepath.Join(h.dir, "data")))
	if err == nil { // a failpoint may have ended it
		require.NoError(t, json.Unmarshal(raw, &p.info))
	}
	return p
}

// launch is run without waiting until the process is ready.
func (h *home) launch(t testing.TB, command string, environ ...string) *process {
	t.Helper()
	path := h.binary
	if path == "" {
		var err error
		path, err = binary()
		require.NoError(t, err)
	}
	cmd := exec.Command(path, command)
	cmd.Env = append(h.environ, environ...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: h.user}
	owner := t
	if h.owner != nil {
		owner = h.owner
	}
	if cmd.Stderr = h.log; h.log == nil {
		cmd.Stderr = owner.Output()
	}
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{command: cmd, ready: make(chan struct{}), exited: make(chan struct{}), home: h}
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if url, is := strings.CutPrefix(lines.Text(), "API "); is { // a starter writes no run.json
				p.info.API = strings.TrimSpace(url)
			}
			if lines.Text() == "ready" {
				close(p.ready)
			}
		}
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
		close(p.exited)
	}()
	owner.Cleanup(p.kill)
	return p
}

// kill kills the process with SIGKILL and waits for its exit.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.exited
}

func (p *process) api() *client.Client { return client.New(p.info.API, "") }

// awaitExit waits for the process to exit.
func (p *process) awaitExit(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case <-p.exited:
	case <-ctx.Done():
		t.Fatal("the process did not reach its failpoint")
	}
}

// post sends the message of a crash test without waiting for the answer, and
// reports whether it was acknowledged.
func (p *process) post(t *testing.T) bool {
	t.Helper()
	return p.send(t, "do three things")
}

// send is post with another text.
func (p *process) send(t *testing.T, text string) bool {
	t.Helper()
	if p.info.API == "" {
		return false
	}
	body, err := json.Marshal(map[string]string{"session": p.home.session(), "id": p.home.message(), "text": text})
	require.NoError(t, err)
	response, err := http.Post(p.info.API+"/v1/messages", "application/json", strings.NewReader(string(body)))
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusAccepted
}

// dieAt makes a process exit at a failpoint.
func dieAt(point string) string { return failpoint.Variable + "=" + point }
