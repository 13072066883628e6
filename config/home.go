package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// HomeDir returns the absolute path of Holdfast's home: $HOLDFAST_HOME or ~/.holdfast.
// Environ has the form of [os.Environ].
func HomeDir(environ []string) (string, error) {
	env := lookup(environ)
	dir := env["HOLDFAST_HOME"]
	if dir == "" {
		if env["HOME"] == "" {
			return "", errors.New("no home: set HOLDFAST_HOME or HOME")
		}
		dir = filepath.Join(env["HOME"], ".holdfast")
	}
	dir, err := filepath.Abs(tilde(dir, env))
	if err != nil {
		return "", fmt.Errorf("home: %w", err)
	}
	return dir, nil
}

// FilePath returns the path of the config file: $HOLDFAST_CONFIG, which is reported as
// named, or config.yaml in home.
func FilePath(home string, environ []string) (path string, named bool) {
	env := lookup(environ)
	if path = env["HOLDFAST_CONFIG"]; path != "" {
		return tilde(path, env), true
	}
	return filepath.Join(home, "config.yaml"), false
}

// lookup returns an environment as a map. The last of duplicate variables wins.
func lookup(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return env
}

// tilde replaces a leading ~/ with the user's home.
func tilde(path string, env map[string]string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || env["HOME"] == "" || (rest != "" && rest[0] != filepath.Separator) {
		return path
	}
	return filepath.Join(env["HOME"], rest)
}

// resolve makes a path absolute, relative to home.
func resolve(path, home string, env map[string]string) string {
	path = tilde(path, env)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(home, path)
}
