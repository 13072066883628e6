package supervisor

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// placeFile holds the unique name of a directory. No key starts with a dot.
const placeFile = ".place"

// placeOf returns the unique name of dir, creating it if necessary.
func placeOf(dir string) (string, error) {
	path := filepath.Join(dir, placeFile)
	if name, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		return string(name), err
	}
	temp, err := writeTemp(path, []byte(rand.Text()))
	if err != nil {
		return "", err
	}
	defer os.Remove(temp)
	// Unlike a rename, a link does not replace a name that another process wrote.
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if err := syncDir(dir); err != nil {
		return "", err
	}
	name, err := os.ReadFile(path)
	return string(name), err
}

// writeJSON replaces the file at path atomically.
func writeJSON(path string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	temp, err := writeTemp(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// writeTemp writes a new synced file in path's directory and returns its name.
func writeTemp(path string, data []byte) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

// syncDir makes the entries of a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
