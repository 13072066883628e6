package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// RunInfo says who runs a home and where its services are. It is a note for other
// commands; who really runs is decided by the lock on the engine's data.
type RunInfo struct {
	PID       int       `json:"pid"`
	Identity  string    `json:"identity"` // of its Temporal worker
	StartedAt time.Time `json:"started_at"`
	API       string    `json:"api,omitempty"`
	UI        string    `json:"ui,omitempty"`
	Temporal  string    `json:"temporal,omitempty"`
	Version   string    `json:"version"`
}

func RunFile(data string) string { return filepath.Join(data, "run.json") }

// ReadRun returns the note in a data folder; the zero value if there is none.
func ReadRun(data string) (RunInfo, error) {
	raw, err := os.ReadFile(RunFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		return RunInfo{}, nil
	}
	if err != nil {
		return RunInfo{}, fmt.Errorf("read who runs here: %w", err)
	}
	var info RunInfo
	if err := json.Unmarshal(raw, &info); err != nil {
		return RunInfo{}, fmt.Errorf("read %s: %w", RunFile(data), err)
	}
	return info, nil
}

// WriteRun replaces the note in one step, so that a reader never sees half of it.
func WriteRun(data string, info RunInfo) error {
	raw, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return fmt.Errorf("encode who runs here: %w", err)
	}
	temporary := RunFile(data) + ".tmp"
	if err := os.WriteFile(temporary, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("note who runs here: %w", err)
	}
	if err := os.Rename(temporary, RunFile(data)); err != nil {
		return fmt.Errorf("note who runs here: %w", err)
	}
	return nil
}

// Listens reports whether something takes connections at an address of this
// machine.
func Listens(ctx context.Context, address string) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}
