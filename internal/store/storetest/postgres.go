// Package storetest runs a Postgres server for tests.
package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// startTimeout is generous: test machines are busy.
const startTimeout = 2 * time.Minute

// errNoPostgres means that no Postgres server is installed.
var errNoPostgres = errors.New("no PostgreSQL server found in /usr/lib/postgresql or PATH; install Debian's package postgresql")

// shared is the server of this test process.
var shared struct {
	sync.Mutex
	server    *server
	users     int
	databases int
}

// Postgres returns the DSN of a new, empty database on a real server. The server
// is started for the first test that asks and stopped after the last that still
// uses it; a parent test that asks keeps it for its subtests. Where no server is
// installed the test is skipped, or failed if CI is "true".
func Postgres(t testing.TB) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		started, err := start()
		if errors.Is(err, errNoPostgres) && os.Getenv("CI") != "true" {
			t.Skip(err)
		}
		require.NoError(t, err)
		shared.server = started
	}
	shared.users++
	t.Cleanup(func() {
		shared.Lock()
		defer shared.Unlock()
		shared.users--
		if shared.users > 0 {
			return
		}
		err := shared.server.stop()
		shared.server = nil
		require.NoError(t, err)
	})
	shared.databases++
	name := "test" + strconv.Itoa(shared.databases)
	require.NoError(t, shared.server.create(t.Context(), name))
	return shared.server.dsn(name)
}

// Restart ends the server of this test process with a signal and starts it again: SIGINT
// closes its connections, SIGQUIT makes it crash. All tests that use it are affected.
func Restart(t *testing.T, signal syscall.Signal) {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	bin, err := binaries()
	require.NoError(t, err)
	require.NoError(t, shared.server.cmd.Process.Signal(signal))
	<-shared.server.exited //nolint:errcheck // a crash was asked for
	require.NoError(t, shared.server.serve(bin))
}

// server is a PostgreSQL server on a Unix socket, all of it in one folder.
type server struct {
	dir    string
	cmd    *exec.Cmd
	exited chan error
}

func start() (*server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "holdfast-pg-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, exited: make(chan error, 1)}
	if err = s.init(bin); err == nil {
		err = s.serve(bin)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// binaries returns the folder of the newest server.
func binaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errNoPostgres
	}
	return filepath.Dir(path), nil
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// init creates the server's files.
func (s *server) init(bin string) error {
	attr, err := s.unprivileged()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"),
		"--pgdata", s.data(), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = s.dir, attr
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// serve starts the server and returns once it takes connections.
func (s *server) serve(bin string) error {
	attr, err := s.unprivileged()
	if err != nil {
		return err
	}
	s.cmd = exec.CommandContext(context.Background(), filepath.Join(bin, "postgres"), "-D", s.data(), "-k", s.dir,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200", "-c", "shared_buffers=16MB")
	s.cmd.Dir, s.cmd.SysProcAttr = s.dir, attr
	log, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	started := make(chan error)
	go func() {
		// The server dies with the thread that started it, which this goroutine
		// therefore keeps: a test process that is killed leaves no server behind.
		runtime.LockOSThread()
		if err := s.cmd.Start(); err != nil {
			started <- err
			return
		}
		ready, text := awaitReady(log)
		if !ready {
			started <- fmt.Errorf("postgres: %w: %s", s.cmd.Wait(), text)
			return
		}
		started <- nil
		_, _ = io.Copy(io.Discard, log)
		s.exited <- s.cmd.Wait()
	}()
	return <-started
}

// unprivileged says how to run the server: it refuses to be root.
func (s *server) unprivileged() (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(s.dir, int(uid), int(gid))
}

// awaitReady reads the server's log until it takes connections, or ended.
func awaitReady(log io.Reader) (ready bool, text string) {
	var read strings.Builder
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		read.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "ready to accept connections") {
			return true, read.String()
		}
	}
	return false, read.String()
}

func (s *server) dsn(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.User("postgres"), Path: "/" + database,
		RawQuery: url.Values{"host": {s.dir}, "sslmode": {"disable"}}.Encode(),
	}
	return u.String()
}

func (s *server) create(ctx context.Context, database string) error {
	conn, err := pgx.Connect(ctx, s.dsn("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `CREATE DATABASE `+database)
	return errors.Join(err, conn.Close(ctx))
}

func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	return errors.Join(<-s.exited, os.RemoveAll(s.dir))
}
