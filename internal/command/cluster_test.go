package command

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// cluster is an engine, workers and starters in separate processes, with a home each, on one
// Postgres and one workspace.
type cluster struct {
	dsn       string
	workspace string
	model     string // URL
	engine    *member
	configure []func(*home) // called with each new home
}

// member is a process of a cluster, or a series of them on one home and address.
type member struct {
	*home
	*process
	role string // its command
}

// startCluster starts the engine of a cluster whose model is at url. Workers and starters are
// added with [cluster.add]. Each new home is configured first.
func startCluster(t *testing.T, url string, configure ...func(*home)) *cluster {
	t.Helper()
	c := &cluster{dsn: storetest.Postgres(t), workspace: t.TempDir(), model: url, configure: configure}
	h := c.newHome(t)
	port := freeAddress(t)[len("127.0.0.1:"):] // a restart is found where it was
	h.environ = append(h.environ, "HOLDFAST_TEMPORAL_PORT="+port)
	c.engine = &member{home: h, process: h.run(t, "engine"), role: "engine"}
	return c
}

func (c *cluster) newHome(t *testing.T) *home {
	t.Helper()
	h := newHome(t, c.model)
	for _, f := range c.configure {
		f(h)
	}
	return h
}

// add starts a "worker" or a "starter" with a home of its own. Environ may override what the
// cluster sets, such as HOLDFAST_WORKSPACE.
func (c *cluster) add(t *testing.T, role string, environ ...string) *member {
	t.Helper()
	h := c.newHome(t)
	h.environ = append(h.environ, "HOLDFAST_STORE_DSN="+c.dsn, "HOLDFAST_WORKSPACE="+c.workspace, "HOLDFAST_HEARTBEAT_ENABLED=false",
		"HOLDFAST_TEMPORAL_ADDRESS="+c.engine.info.Temporal, "HOLDFAST_CHANNELS_HTTP_LISTEN="+freeAddress(t))
	h.environ = append(h.environ, environ...)
	return &member{home: h, process: h.run(t, role), role: role}
}

// restart starts the member again after [process.kill] or [member.terminate].
func (m *member) restart(t *testing.T) {
	t.Helper()
	m.process = m.run(t, m.role)
}

// pid is the ID of the running process.
func (m *member) pid() int { return m.process.command.Process.Pid }

// signal sends a signal: SIGSTOP freezes the member until SIGCONT.
func (m *member) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, m.process.command.Process.Signal(s))
}

// terminate sends SIGTERM and waits for the exit. It returns how long that took.
func (m *member) terminate(t *testing.T) time.Duration {
	t.Helper()
	started := time.Now()
	m.signal(t, syscall.SIGTERM)
	select {
	case <-m.exited:
	case <-time.After(patience):
		t.Fatal("SIGTERM did not end the process")
	}
	return time.Since(started)
}

// send sends a message through a starter and returns its ID.
func (m *member) send(t *testing.T, session, text string) string {
	t.Helper()
	receipt, err := m.api().Send(t.Context(), session, "", text)
	require.NoError(t, err)
	return receipt.ID
}

// await waits through a starter, even across its restart, for the answer to a message.
func (m *member) await(t *testing.T, id string) domain.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	reply, err := m.api().Follow(ctx, id, func(event.Event) {})
	require.NoError(t, err)
	return reply
}

// file is the path of a file of the workspace.
func (c *cluster) file(name string) string { return filepath.Join(c.workspace, name) }
