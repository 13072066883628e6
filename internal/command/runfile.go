package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// runInfo says who runs a home and where its services are. It is a note for other
// commands; who really runs is decided by the lock on the engine's data.
type runInfo struct {
	PID       int       `json:"pid"`
	Identity  string    `json:"identity"` // of its Temporal worker
	StartedAt time.Time `json:"started_at"`
	API       string    `json:"api,omitempty"`
	UI        string    `json:"ui,omitempty"`
	Temporal  string    `json:"temporal,omitempty"`
	Version   string    `json:"version"`
}

func runFile(data string) string { return filepath.Join(data, "run.json") }

// readRun returns the note in a data folder; the zero value if there is none.
func readRun(data string) (runInfo, error) {
	raw, err := os.ReadFile(runFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		return runInfo{}, nil
	}
	if err != nil {
		return runInfo{}, fmt.Errorf("read who runs here: %w", err)
	}
	var info runInfo
	if err := json.Unmarshal(raw, &info); err != nil {
		return runInfo{}, fmt.Errorf("read %s: %w", runFile(data), err)
	}
	return info, nil
}

// writeRun replaces the note in one step, so that a reader never sees half of it.
func writeRun(data string, info runInfo) error {
	raw, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return fmt.Errorf("encode who runs here: %w", err)
	}
	temporary := runFile(data) + ".tmp"
	if err := os.WriteFile(temporary, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("note who runs here: %w", err)
	}
	if err := os.Rename(temporary, runFile(data)); err != nil {
		return fmt.Errorf("note who runs here: %w", err)
	}
	return nil
}
