package shell

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	defaultLang = "C.UTF-8"
)

// Environment returns the environment of commands, as NAME=value, without
// [Options].Env.
func Environment(workspace string) []string { return environment(workspace, nil) }

// environment returns the environment of commands: a few of our variables, those for
// the workspace, and extra, which takes precedence. Other variables may hold secrets.
func environment(workspace string, extra []string) []string {
	shell, err := exec.LookPath("bash")
	if err != nil {
		shell = "/bin/sh"
	}
	env := []string{
		"PATH=" + cmp.Or(os.Getenv("PATH"), defaultPath),
		"LANG=" + cmp.Or(os.Getenv("LANG"), defaultLang),
		"TMPDIR=" + os.TempDir(),
		"HOME=" + workspace,
		"SHELL=" + shell,
		"TERM=dumb",
	}
	for _, name := range []string{"TZ", "USER"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, extra...)
}

// workingDir returns the absolute path of a call's working directory.
func (r *runner) workingDir(name string) (string, error) {
	dir := name
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Workspace, dir)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("working_dir: %w", err)
	}
	if info, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("working_dir: %w", err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("working_dir: %s is not a directory", name)
	}
	if !r.Restrict {
		return dir, nil
	}
	workspace, err := filepath.EvalSymlinks(r.Workspace)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	if inside, err := filepath.Rel(workspace, dir); err != nil || !filepath.IsLocal(inside) {
		return "", fmt.Errorf("working_dir: %s is outside the workspace", name)
	}
	return dir, nil
}
