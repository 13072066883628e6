package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm"
)

const (
	// roomNeeded is what there must be on the disk, roomWanted what there should.
	roomNeeded = 100 << 20
	roomWanted = 1 << 30
)

// checkConfig reads the config. Where it is broken the checks go on with what the
// environment alone says, or with the defaults.
func (d *doctor) checkConfig(home string) {
	path, named := config.FilePath(home, d.environ)
	options := config.Options{Home: home, Environ: d.environ, Providers: llm.KeyVariables()}
	cfg, err := config.LoadFile("", options)
	if err != nil {
		for problem := range strings.SplitSeq(err.Error(), "\n") {
			d.fail("config", "correct "+path+" or, where it names a HOLDFAST_ variable, that; `holdfast init` writes a config where there is none", "%s", problem)
		}
		if cfg, err = config.Load(strings.NewReader(""), options); err != nil {
			cfg = config.Default(home)
		}
		d.cfg = cfg
		return
	}
	d.cfg = cfg
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		d.ok("config", "no file at %s: the environment and the defaults hold; `holdfast init` writes one", path)
	case err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode().IsRegular():
		d.warn("config", "chmod 600 "+path+" if there are keys in it", "%s is right, and other users may read it", path)
	default:
		d.ok("config", "%s is right", path)
	}
}

// checkFolders looks at what is written to, where all is kept first.
func (d *doctor) checkFolders() {
	folders := []struct{ what, path, do string }{
		{"home", d.cfg.Home, "make it a folder that this user may write, or set HOLDFAST_HOME to another"},
		{"data", d.cfg.DataDir(), "make it a folder that this user may write"},
		{"commands", filepath.Join(d.cfg.DataDir(), "commands"), "make it a folder that this user may write; what the agent runs is kept track of there"},
		{"workspace", d.cfg.Workspace, "make it a folder that this user may write, or set workspace to another"},
	}
	for _, folder := range folders {
		existing, err := writable(folder.path)
		switch {
		case err != nil:
			d.fail(folder.what, folder.do, "%s: %v", folder.path, err)
		case existing != folder.path:
			d.ok(folder.what, "%s is not there yet and can be made", folder.path)
		default:
			d.ok(folder.what, "%s can be written", folder.path)
		}
	}
	d.checkRoom()
}

// checkRoom looks at the disk, or the two, that home and workspace are on.
func (d *doctor) checkRoom() {
	places := []string{d.cfg.Home}
	if !strings.HasPrefix(d.cfg.Workspace, d.cfg.Home+string(filepath.Separator)) {
		places = append(places, d.cfg.Workspace)
	}
	for _, place := range places {
		existing, err := nearest(place)
		var disk unix.Statfs_t
		if err != nil || unix.Statfs(existing, &disk) != nil {
			continue // said above
		}
		free := disk.Bavail * uint64(disk.Bsize)
		switch {
		case free < roomNeeded:
			d.fail("disk", "make room on the disk, or set HOLDFAST_HOME to a folder on another", "%d MB are free at %s", free>>20, existing)
		case free < roomWanted:
			d.warn("disk", "make room on the disk", "only %d MB are free at %s", free>>20, existing)
		default:
			d.ok("disk", "%.1f GB are free at %s", float64(free)/(1<<30), existing)
		}
	}
}

// writable reports whether files can be made in dir or, as long as that is not
// there, in the nearest folder that is, which it returns.
func writable(dir string) (existing string, err error) {
	existing, err = nearest(dir)
	if err != nil {
		return "", err
	}
	probe, err := os.CreateTemp(existing, ".holdfast-doctor-")
	if err != nil {
		return "", fmt.Errorf("cannot be written: %w", cause(err))
	}
	_, err = probe.WriteString("x")
	if err := errors.Join(err, probe.Close(), os.Remove(probe.Name())); err != nil {
		return "", fmt.Errorf("cannot be written: %w", cause(err))
	}
	return existing, nil
}

// nearest is dir, or the first folder above it that there is.
func nearest(dir string) (string, error) {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return dir, nil
		case err == nil:
			return "", fmt.Errorf("%s is no folder", dir)
		case errors.Is(err, unix.ENOTDIR), errors.Is(err, fs.ErrNotExist):
		default:
			return "", cause(err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", cause(err)
		}
		dir = parent
	}
}

// cause is an error about a file without the file.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
