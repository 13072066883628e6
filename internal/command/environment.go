package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mattn/go-isatty"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// exitCode ends the program without printing anything.
type exitCode int

// Error implements error.
func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

const (
	// exitFailed is for failures that were already reported.
	exitFailed exitCode = 1
	// exitInterrupted is the shell's convention for Ctrl-C.
	exitInterrupted exitCode = 130
)

// environment is where commands find their home and config.
type environment struct {
	vars []string // in the form of [os.Environ]
}

// load reads the config and returns it with a logger as configured.
func (e environment) load(stderr io.Writer) (config.Config, *slog.Logger, error) {
	cfg, err := config.LoadFile("", config.Options{Environ: e.vars, Providers: llm.KeyVariables()})
	if err != nil {
		return config.Config{}, nil, err
	}
	return cfg, newLogger(cfg.Log, stderr), nil
}

func newLogger(c config.Log, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // validated with the config
	options := &slog.HandlerOptions{Level: level}
	_, onTerminal := terminal(w)
	if c.Format == config.LogText || c.Format == config.LogAuto && onTerminal {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// withStore calls f with the config and the store. Commands do not create a missing
// store: f gets an empty one that is deleted afterwards.
func withStore(ctx context.Context, env environment, f func(config.Config, *store.Store) error) error {
	cfg, _, err := env.load(io.Discard)
	if err != nil {
		return err
	}
	dsn := cfg.StoreDSN()
	if !hasStore(cfg) {
		dir, err := os.MkdirTemp("", "holdfast-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		dsn = filepath.Join(dir, "store.db")
	}
	stored, err := store.Open(ctx, store.Options{DSN: dsn})
	if err != nil {
		return err
	}
	defer stored.Close()
	return f(cfg, stored)
}

// hasStore reports whether the store exists, which a server's is assumed to.
func hasStore(cfg config.Config) bool {
	_, err := os.Stat(cfg.StoreDSN())
	return cfg.Store.DSN != "" || !errors.Is(err, fs.ErrNotExist)
}

// terminal returns the file that f is, and whether it is a terminal.
func terminal(f any) (*os.File, bool) {
	file, ok := f.(*os.File)
	return file, ok && isatty.IsTerminal(file.Fd())
}
