package node_test

import (
	"database/sql"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// doctorHome is the environment of a home where nothing else is wrong.
func doctorHome(dir string, more ...string) []string {
	return append([]string{
		"HOLDFAST_HOME=" + dir, "HOLDFAST_MODEL=demo", "HOLDFAST_TEMPORAL_PORT=0", "HOLDFAST_TEMPORAL_UI_PORT=0",
		"HOLDFAST_CHANNELS_HTTP_LISTEN=127.0.0.1:0",
	}, more...)
}

// providerAt is the environment of a home whose model is served at url.
func providerAt(dir, url string) []string {
	return doctorHome(dir, "HOLDFAST_MODEL=custom/"+llmtest.Model, "HOLDFAST_PROVIDERS_CUSTOM_BASE_URL="+url,
		"HOLDFAST_PROVIDERS_CUSTOM_API_KEY=sk-very-secret")
}

// finding is the line of out about a thing, and the one that says what to do.
func finding(t *testing.T, out, level, what string) string {
	t.Helper()
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) > 1 && fields[0] == level && fields[1] == what {
			if level != "ok" {
				require.Contains(t, lines[i+1], "      fix: ")
				return line + lines[i+1]
			}
			return line
		}
	}
	require.Failf(t, "not found", "%s %s in\n%s", level, what, out)
	return ""
}

func TestDoctorFindsNothingWrong(t *testing.T) {
	t.Parallel()

	t.Run("with a missing home, which it does not create", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "a", "b")
		out, failed := examine(t, doctorHome(dir))
		require.False(t, failed, out)
		require.NotContains(t, out, "fail")
		require.Contains(t, finding(t, out, "ok", "home"), "does not exist yet")
		require.Contains(t, finding(t, out, "ok", "store"), "empty")
		require.NoDirExists(t, filepath.Dir(dir))
	})

	t.Run("with a running agent", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewServer(t, llmtest.Text("hello"))
		n := startNode(t, model.URL)
		ask(t, n, "hi")
		out, failed := examine(t, providerAt(n.Config.Home, model.URL))
		require.False(t, failed, out)
		require.NotContains(t, out, "fail")
		require.Contains(t, finding(t, out, "ok", "engine"), "process")
		require.Contains(t, finding(t, out, "ok", "API"), n.APIURL())
		require.Contains(t, finding(t, out, "ok", "store"), "1 session, 1 turn, 0 messages waiting")
		require.Contains(t, finding(t, out, "ok", "provider"), model.URL)

		out, failed = examine(t, providerAt(t.TempDir(), model.URL))
		require.False(t, failed, out)
		require.Contains(t, finding(t, out, "ok", "engine"), "not running")

		out, failed = examine(t, append(doctorHome(t.TempDir()), "HOLDFAST_TEMPORAL_ADDRESS="+n.Engine.Address()))
		require.False(t, failed, out)
		require.Contains(t, out, "has the namespace default")
		require.Contains(t, out, "it has the search attributes")

		out, failed = examine(t, append(doctorHome(t.TempDir()), "HOLDFAST_TEMPORAL_ADDRESS="+n.Engine.Address(),
			"HOLDFAST_TEMPORAL_NAMESPACE=elsewhere"))
		require.True(t, failed, out)
		require.Contains(t, finding(t, out, "fail", "temporal"), "namespace create -n elsewhere")

		require.NoError(t, os.Remove(node.RunFile(n.Config.DataDir())))
		out, failed = examine(t, doctorHome(n.Config.Home))
		require.False(t, failed, out)
		require.Contains(t, finding(t, out, "warn", "engine"), "another process holds")
	})
}

func TestDoctorFinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		what   string
		want   []string
		broken func(t *testing.T, dir string) (environ []string)
	}{
		{"a config with two problems", "config", []string{"agnet", "agent", "config.yaml"}, func(t *testing.T, dir string) []string {
			write(t, dir, "config.yaml", "agnet: {}\nlog: {level: loud}\n")
			return nil
		}},
		{"a setting in the environment that is wrong", "config", []string{"HOLDFAST_LOG_LEVEL"}, func(*testing.T, string) []string {
			return []string{"HOLDFAST_LOG_LEVEL=loud"}
		}},
		{"a file where the home should be", "home", []string{"is not a directory", "HOLDFAST_HOME"}, func(t *testing.T, dir string) []string {
			write(t, dir, "file", "")
			return []string{"HOLDFAST_HOME=" + filepath.Join(dir, "file")}
		}},
		{"a home that cannot be written", "home", []string{"not writable"}, func(*testing.T, string) []string {
			return []string{"HOLDFAST_HOME=/proc/1"} // not even root may
		}},
		{"a file where the data should be", "data", []string{"is not a directory"}, func(t *testing.T, dir string) []string {
			write(t, dir, "data", "")
			return nil
		}},
		{"a store that is damaged", "store", []string{"store.db", "move it away", "-wal"}, func(t *testing.T, dir string) []string {
			write(t, dir, "data/store.db", strings.Repeat("junk", 2000))
			return nil
		}},
		{"a store that another process holds", "store", []string{"store.db", "fix: another process holds the database; wait"}, func(t *testing.T, dir string) []string {
			database(t, filepath.Join(dir, "data", "store.db"), "BEGIN EXCLUSIVE")
			return nil
		}},
		{"a store whose log cannot be opened", "store", []string{"store.db", "make it and its -wal and -shm files"}, func(t *testing.T, dir string) []string {
			database(t, filepath.Join(dir, "data", "store.db"), "SELECT 1")
			require.NoError(t, os.Mkdir(filepath.Join(dir, "data", "store.db-wal"), 0o700))
			return nil
		}},
		{"an engine's database that cannot be written", "engine", []string{"engine.db", "fix: make the file and its -wal and -shm files"}, func(t *testing.T, dir string) []string {
			require.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o700))
			require.NoError(t, os.Symlink("/proc/sys/kernel/osrelease", filepath.Join(dir, "data", "engine.db"))) // not even root may
			return nil
		}},
		{"an engine's database that another process holds", "engine", []string{"engine.db", "fix: wait, or stop the other program"}, func(t *testing.T, dir string) []string {
			database(t, filepath.Join(dir, "data", "engine.db"), "BEGIN EXCLUSIVE")
			return nil
		}},
		{"an engine's database whose log cannot be opened", "engine", []string{"engine.db", "fix: make the file and its -wal and -shm files"}, func(t *testing.T, dir string) []string {
			database(t, filepath.Join(dir, "data", "engine.db"), "SELECT 1")
			require.NoError(t, os.Mkdir(filepath.Join(dir, "data", "engine.db-wal"), 0o700))
			return nil
		}},
		{"an engine's database that is damaged", "engine", []string{"engine.db", "-wal"}, func(t *testing.T, dir string) []string {
			write(t, dir, "data/engine.db", strings.Repeat("junk", 2000))
			return nil
		}},
		{"a port that is taken", "engine", []string{"temporal.port"}, func(t *testing.T, _ string) []string {
			return []string{"HOLDFAST_TEMPORAL_PORT=" + takenPort(t)}
		}},
		{"an address of the API that is taken", "API", []string{"channels.http.listen"}, func(t *testing.T, _ string) []string {
			return []string{"HOLDFAST_CHANNELS_HTTP_LISTEN=127.0.0.1:" + takenPort(t)}
		}},
		{"a model without a key", "model", []string{"OPENAI_API_KEY"}, func(*testing.T, string) []string {
			return []string{"HOLDFAST_MODEL=openai/gpt-4.1"}
		}},
		{"a key that is wrong", "provider", []string{"rejects the key", "CUSTOM_API_KEY", "bad key"}, func(t *testing.T, dir string) []string {
			return providerAt(dir, answering(t, http.StatusUnauthorized, `{"error":{"message":"bad key sk-very-secret"}}`))
		}},
		{"a provider that is away", "provider", []string{"does not answer", "base_url"}, func(t *testing.T, dir string) []string {
			return providerAt(dir, "http://127.0.0.1:1/v1")
		}},
		{"a Temporal that is away", "temporal", []string{"127.0.0.1:1", "temporal.address"}, func(*testing.T, string) []string {
			return []string{"HOLDFAST_TEMPORAL_ADDRESS=127.0.0.1:1"}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out, failed := examine(t, append(doctorHome(dir), tt.broken(t, dir)...))
			require.True(t, failed, out)
			found := finding(t, out, "fail", tt.what)
			for _, want := range tt.want {
				require.Contains(t, found, want)
			}
			require.NotContains(t, out, "sk-very-secret")
			require.Contains(t, out, "clock", "it looks at all the rest too")
		})
	}
}

func TestDoctorWarns(t *testing.T) {
	t.Parallel()

	t.Run("that the demo is the demo", func(t *testing.T) {
		t.Parallel()
		out, failed := examine(t, doctorHome(t.TempDir(), "HOLDFAST_MODEL="))
		require.False(t, failed, out)
		if !strings.Contains(out, "local Ollama") {
			require.Contains(t, finding(t, out, "warn", "model"), "OPENAI_API_KEY")
		}
	})

	t.Run("that a provider does not list the model", func(t *testing.T) {
		t.Parallel()
		url := answering(t, http.StatusOK, `{"data":[{"id":"other"}]}`)
		out, failed := examine(t, providerAt(t.TempDir(), url))
		require.False(t, failed, out)
		require.Contains(t, finding(t, out, "warn", "provider"), "other")
	})

	t.Run("that a provider has no list of models", func(t *testing.T) {
		t.Parallel()
		out, failed := examine(t, providerAt(t.TempDir(), answering(t, http.StatusNotFound, "no")))
		require.False(t, failed, out)
		require.Contains(t, finding(t, out, "warn", "provider"), "the key was not checked")
	})

	t.Run("that others may read the config", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, dir, "config.yaml", "model: demo\n")
		require.NoError(t, os.Chmod(filepath.Join(dir, "config.yaml"), 0o644))
		out, failed := examine(t, doctorHome(dir))
		require.False(t, failed, out)
		require.Contains(t, finding(t, out, "warn", "config"), "chmod 600")
	})

	t.Run("that run.json is broken", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, dir, "data/run.json", "{")
		out, failed := examine(t, doctorHome(dir))
		require.False(t, failed, out)
		require.Contains(t, finding(t, out, "warn", "run.json"), "delete")
	})

	t.Run("reports no problem for a stale run.json and an intact home", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, dir, "data/run.json", `{"pid": 1, "temporal": "127.0.0.1:1", "api": "http://127.0.0.1:1"}`)
		stored, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(dir, "data", "store.db")})
		require.NoError(t, err)
		require.NoError(t, stored.Close())
		out, failed := examine(t, doctorHome(dir))
		require.False(t, failed, out)
		require.NotContains(t, out, "warn  run.json")
		require.Contains(t, finding(t, out, "ok", "engine"), "not running")
		require.Contains(t, finding(t, out, "ok", "store"), "0 sessions")
	})
}

func TestDoctorOnTranscription(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		body   string
		level  string
		want   string
	}{
		{"a service that has the model", http.StatusOK, `{"data":[{"id":"whisper-large-v3"}]}`, "ok", "transcribed by whisper-large-v3"},
		{"a service without it", http.StatusOK, `{"data":[{"id":"other"}]}`, "warn", "does not list the model"},
		{"a key that is wrong", http.StatusUnauthorized, `{"error":{"message":"bad key"}}`, "fail", "the key is rejected"},
		{"a service without a list", http.StatusNotFound, "no", "ok", "were not checked"},
		{"a service that fails", http.StatusBadGateway, "no", "fail", "tools.transcription.base_url"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, _ := examine(t, doctorHome(t.TempDir(), "HOLDFAST_TOOLS_TRANSCRIPTION_ENABLED=true",
				"HOLDFAST_TOOLS_TRANSCRIPTION_BASE_URL="+answering(t, tt.status, tt.body)))
			require.Contains(t, finding(t, out, tt.level, "voice"), tt.want)
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// database creates an SQLite file with a table, and leaves a connection open on which it
// ran a statement.
func database(t *testing.T, path, statement string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, text := range []string{"CREATE TABLE a (b)", statement} {
		_, err = db.ExecContext(t.Context(), text)
		require.NoError(t, err)
	}
}

func takenPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}

// answering is the base URL of a provider that always answers the same.
func answering(t *testing.T, status int, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}
