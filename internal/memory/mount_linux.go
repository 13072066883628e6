package memory

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// localLocks are the mount options with which a network file system keeps locks on this
// machine.
var localLocks = []string{"nolock", "local_lock=all", "local_lock=flock", "nobrl", "localflocks"}

// checkMount returns [ErrLocalLock] if the folder is on a network file system that was
// mounted with locks that other machines do not see.
func checkMount(folder string) error {
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil // nothing is known about the mount
	}
	defer mounts.Close()
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return err
	}
	return localLock(mounts, folder)
}

// localLock is checkMount for a folder without symbolic links, given the contents of
// /proc/self/mountinfo.
func localLock(mounts io.Reader, folder string) error {
	var at, options string // of the mount that the folder is on: the longest, and the last of those
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		mount, super, _ := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(mount), strings.Fields(super)
		if len(fields) < 6 || len(kind) < 3 || len(fields[4]) < len(at) || !within(folder, fields[4]) {
			continue
		}
		at, options = fields[4], fields[5]+","+kind[2]
	}
	for option := range strings.SplitSeq(options, ",") {
		if slices.Contains(localLocks, option) {
			return fmt.Errorf("%w: %s is mounted with %s", ErrLocalLock, at, option)
		}
	}
	return nil
}

func within(folder, mount string) bool {
	rel, err := filepath.Rel(mount, folder)
	return err == nil && filepath.IsLocal(rel)
}
