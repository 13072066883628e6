package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Info describes a command.
type Info struct {
	*Process
	Key       string
	Owner     string
	Command   string
	StartedAt time.Time // zero if it never started
}

// Info returns the command's description.
func (p *Process) Info() (Info, error) {
	spec, err := p.entry.spec()
	if err != nil {
		return Info{}, fmt.Errorf("supervisor: %w", err)
	}
	info := Info{Process: p, Key: filepath.Base(p.entry.dir), Owner: spec.Owner, Command: spec.Command}
	if started, err := os.Stat(p.entry.path(startedFile)); err == nil {
		info.StartedAt = started.ModTime()
	}
	return info, nil
}

func (e entry) spec() (spec Spec, err error) {
	data, err := os.ReadFile(e.path(specFile))
	if err != nil {
		return Spec{}, err
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		return Spec{}, fmt.Errorf("read %s: %w", specFile, err)
	}
	return spec, nil
}

// List returns an owner's commands with input, running or not, oldest first.
func (s *Supervisor) List(owner string) ([]Info, error) {
	return s.list(func(info Info, _ phase) bool { return info.Owner == owner })
}

// Running returns all running commands with input, oldest first.
func (s *Supervisor) Running() ([]Info, error) {
	return s.list(func(_ Info, now phase) bool { return now == running })
}

// list returns the wanted commands with input, oldest first.
func (s *Supervisor) list(wanted func(Info, phase) bool) ([]Info, error) {
	found, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("supervisor: list: %w", err)
	}
	var all []Info
	for _, f := range found {
		e, err := s.entry(f.Name())
		if err != nil || !e.exists(inputFile) {
			continue
		}
		now := e.phase()
		if now == absent {
			continue
		}
		info, err := (&Process{entry: e}).Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			return nil, err
		}
		if wanted(info, now) {
			all = append(all, info)
		}
	}
	slices.SortStableFunc(all, func(a, b Info) int { return a.StartedAt.Compare(b.StartedAt) })
	return all, nil
}
