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
	// roomNeeded is the required free disk space, roomWanted the recommended.
	roomNeeded = 100 << 20
	roomWanted = 1 << 30
)

// checkConfig loads the config. If it is broken, the other checks use the environment
// only, or the defaults.
func (d *doctor) checkConfig(home string) {
	path, named := config.FilePath(home, d.environ)
	options := config.Options{Home: home, Environ: d.environ, Providers: llm.KeyVariables()}
	cfg, err := config.LoadFile("", options)
	if err != nil {
		for problem := range strings.SplitSeq(err.Error(), "\n") {
			d.fail("config", "correct "+path+", or the HOLDFAST_ variable if one is named; `holdfast init` creates a missing config", "%s", problem)
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
		d.ok("config", "%s does not exist, using the environment and defaults; `holdfast init` creates it", path)
	case err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode().IsRegular():
		d.warn("config", "chmod 600 "+path+" if it contains keys", "%s is valid, but other users can read it", path)
	default:
		d.ok("config", "%s is valid", path)
	}
}

// checkFolders checks the directories that Holdfast writes to.
func (d *doctor) checkFolders() {
	folders := []struct{ topic, path, fix string }{
		{"home", d.cfg.Home, "make it a directory that this user can write, or set HOLDFAST_HOME to another one"},
		{"data", d.cfg.DataDir(), "make it a directory that this user can write"},
		{"commands", filepath.Join(d.cfg.DataDir(), "commands"), "make it a directory that this user can write; it tracks the agent's commands"},
		{"workspace", d.cfg.Workspace, "make it a directory that this user can write, or set workspace to another one"},
	}
	for _, folder := range folders {
		existing, err := writable(folder.path)
		switch {
		case err != nil:
			d.fail(folder.topic, folder.fix, "%s: %v", folder.path, err)
		case existing != folder.path:
			d.ok(folder.topic, "%s does not exist yet and can be created", folder.path)
		case isOpen(folder.path):
			d.warn(folder.topic, "chmod 700 "+folder.path, "%s is writable, but other users of this machine can look into it", folder.path)
		default:
			d.ok(folder.topic, "%s is writable", folder.path)
		}
	}
	d.checkRoom()
}

// isOpen reports whether other users may enter or list a directory.
func isOpen(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o077 != 0
}

// checkRoom checks the free space on the disks of home and workspace.
func (d *doctor) checkRoom() {
	places := []string{d.cfg.Home}
	if !strings.HasPrefix(d.cfg.Workspace, d.cfg.Home+string(filepath.Separator)) {
		places = append(places, d.cfg.Workspace)
	}
	for _, place := range places {
		existing, err := nearest(place)
		var disk unix.Statfs_t
		if err != nil || unix.Statfs(existing, &disk) != nil {
			continue // reported by checkFolders
		}
		free := disk.Bavail * uint64(disk.Bsize)
		switch {
		case free < roomNeeded:
			d.fail("disk", "free disk space, or set HOLDFAST_HOME to a directory on another disk", "%d MB free at %s", free>>20, existing)
		case free < roomWanted:
			d.warn("disk", "free disk space", "only %d MB free at %s", free>>20, existing)
		default:
			d.ok("disk", "%.1f GB free at %s", float64(free)/(1<<30), existing)
		}
	}
}

// writable checks that files can be created in dir, or in its nearest existing parent,
// which it returns.
func writable(dir string) (existing string, err error) {
	existing, err = nearest(dir)
	if err != nil {
		return "", err
	}
	probe, err := os.CreateTemp(existing, ".holdfast-doctor-")
	if err != nil {
		return "", fmt.Errorf("not writable: %w", cause(err))
	}
	_, err = probe.WriteString("x")
	if err := errors.Join(err, probe.Close(), os.Remove(probe.Name())); err != nil {
		return "", fmt.Errorf("not writable: %w", cause(err))
	}
	return existing, nil
}

// nearest returns dir or its nearest existing parent.
func nearest(dir string) (string, error) {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return dir, nil
		case err == nil:
			return "", fmt.Errorf("%s is not a directory", dir)
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
