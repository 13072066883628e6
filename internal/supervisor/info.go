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

// Info says what a command is.
type Info struct {
	Key       string
	Owner     string
	Command   string
	StartedAt time.Time // when it was; zero if it never was
}

// Info returns what the command was started as.
func (p *Process) Info() (Info, error) {
	j, err := p.entry.job()
	if err != nil {
		return Info{}, fmt.Errorf("supervisor: %w", err)
	}
	info := Info{Key: filepath.Base(p.entry.dir), Owner: j.Owner, Command: j.Command}
	if started, err := os.Stat(p.entry.path(startedFile)); err == nil {
		info.StartedAt = started.ModTime()
	}
	return info, nil
}

func (e entry) job() (j job, err error) {
	data, err := os.ReadFile(e.path(specFile))
	if err != nil {
		return job{}, err
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return job{}, fmt.Errorf("read %s: %w", specFile, err)
	}
	return j, nil
}

// List returns the commands with input of an owner, running or not, the oldest
// first.
func (s *Supervisor) List(owner string) ([]*Process, error) {
	found, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("supervisor: list: %w", err)
	}
	var owned []*Process
	started := map[*Process]time.Time{}
	for _, f := range found {
		e, err := s.entry(f.Name())
		if err != nil || !e.exists(inputFile) || e.phase() == absent {
			continue
		}
		p := &Process{entry: e}
		info, err := p.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed just now
		}
		if err != nil {
			return nil, err
		}
		if info.Owner == owner {
			owned, started[p] = append(owned, p), info.StartedAt
		}
	}
	slices.SortStableFunc(owned, func(a, b *Process) int { return started[a].Compare(started[b]) })
	return owned, nil
}
