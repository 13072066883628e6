package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// RunInfo describes the process running on a home to other commands. It is only a hint:
// the lock on the engine's data decides which process runs.
type RunInfo struct {
	PID       int       `json:"pid"`
	Command   string    `json:"command"`  // such as [CommandUp]
	Identity  string    `json:"identity"` // of its Temporal worker
	StartedAt time.Time `json:"started_at"`
	API       string    `json:"api,omitempty"`
	UI        string    `json:"ui,omitempty"`
	Temporal  string    `json:"temporal,omitempty"`
	Version   string    `json:"version"`
}

// Commands that own the engine of a home.
const (
	CommandUp     = "up"
	CommandEngine = "engine"
	CommandChat   = "chat" // which runs everything itself
)

// isRunning reports whether the process runs. A process that was restarted in a container may
// have the ID of its predecessor.
func (r RunInfo) isRunning() bool {
	if r.PID <= 0 || r.PID == os.Getpid() {
		return false
	}
	err := syscall.Kill(r.PID, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// RunFile returns the path of run.json in a data directory.
func RunFile(data string) string { return filepath.Join(data, "run.json") }

// ReadRun reads run.json in a data directory, or the zero value.
func ReadRun(data string) (RunInfo, error) {
	raw, err := os.ReadFile(RunFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		return RunInfo{}, nil
	}
	if err != nil {
		return RunInfo{}, fmt.Errorf("read run.json: %w", err)
	}
	var info RunInfo
	if err := json.Unmarshal(raw, &info); err != nil {
		return RunInfo{}, fmt.Errorf("read %s: %w", RunFile(data), err)
	}
	return info, nil
}

// WriteRun replaces run.json atomically.
func WriteRun(data string, info RunInfo) error {
	raw, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return fmt.Errorf("encode run.json: %w", err)
	}
	temporary := RunFile(data) + ".tmp"
	if err := os.WriteFile(temporary, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write run.json: %w", err)
	}
	if err := os.Rename(temporary, RunFile(data)); err != nil {
		return fmt.Errorf("write run.json: %w", err)
	}
	return nil
}

// Listens reports whether a local address accepts connections.
func Listens(ctx context.Context, address string) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// identityPrefix is common to all processes that ever owned the engine of a data
// directory, and only to them.
func identityPrefix(data string) string {
	sum := sha256.Sum256([]byte(data))
	return "holdfast@" + hex.EncodeToString(sum[:4]) + "/"
}

// NewIdentity names this process in workflow histories: by data directory, process ID
// and, since process IDs are reused, time.
func NewIdentity(data string) string {
	return fmt.Sprintf("%s%d/%d", identityPrefix(data), os.Getpid(), time.Now().UnixMilli())
}
