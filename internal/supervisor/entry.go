package supervisor

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	specFile    = "spec.json"
	lockFile    = "lock"
	startedFile = "started"
	stopFile    = "stop"
	inputFile   = "input"
	outputFile  = "output"
	seenFile    = "seen"
	exitFile    = "exit.json"
	logFile     = "log"
)

// phase is the state of a command, according to its files.
type phase int

const (
	absent   phase = iota // not started yet
	running               // a supervisor holds the lock
	finished              // it ended, or was stopped before it started
	lost                  // it started, and its end is unknown
)

// entry is the directory of one key.
type entry struct{ dir string }

func (e entry) path(name string) string { return filepath.Join(e.dir, name) }

func (e entry) exists(name string) bool {
	_, err := os.Lstat(e.path(name))
	return err == nil
}

func (e entry) phase() phase {
	_, phase := e.status()
	return phase
}

// status interprets the files. The order of reading matters: a supervisor locks,
// checks for stop, writes started, writes exit.json and unlocks. Files that existed
// before we found the lock free are not from a supervisor that is just starting.
func (e entry) status() (Exit, phase) {
	started, stop, held := e.exists(startedFile), e.exists(stopFile), e.locked()
	if exit, ok := e.exit(); ok {
		return exit, finished
	}
	switch {
	case held:
		return Exit{}, running
	case started:
		return Exit{}, lost
	case stop:
		return neverStarted(), finished
	}
	return Exit{}, absent
}

func neverStarted() Exit { return Exit{Code: -1, Stopped: true} }

func (e entry) exit() (exit Exit, ok bool) {
	data, err := os.ReadFile(e.path(exitFile))
	if err != nil {
		return Exit{}, false
	}
	return exit, json.Unmarshal(data, &exit) == nil
}

// prepare creates the files that a supervisor needs. Concurrent starters write the
// same content.
func (e entry) prepare(spec Spec) error {
	if err := e.create(); err != nil {
		return err
	}
	if err := e.touch(lockFile); err != nil {
		return err
	}
	if spec.Input {
		if err := e.touch(inputFile); err != nil {
			return err
		}
	}
	if spec.MaxOutput <= 0 {
		spec.MaxOutput = DefaultMaxOutput
	}
	return writeJSON(e.path(specFile), spec)
}

// create creates the directory durably.
func (e entry) create() error {
	err := os.Mkdir(e.dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(e.dir))
}

func (e entry) requestStop() error {
	if err := e.create(); err != nil {
		return err
	}
	return e.mark(stopFile)
}

// mark creates an empty file durably.
func (e entry) mark(name string) error {
	if err := e.touch(name); err != nil {
		return err
	}
	return syncDir(e.dir)
}

func (e entry) touch(name string) error {
	f, err := os.OpenFile(e.path(name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
