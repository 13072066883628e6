// Package skill finds an agent's skills: folders with a SKILL.md of instructions for
// a kind of work. The prompt lists them and the agent reads a file when it needs
// it; active skills are in every prompt in full.
package skill

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Skill describes a skill.
type Skill struct {
	Name        string   // one line: from the front matter, else the folder's name
	Description string   // one line; defaults to the name
	Location    string   // absolute path of its SKILL.md, in the workspace
	Builtin     bool     // comes with Holdfast
	Always      bool     // asks to be in every prompt
	Available   bool     // readable, with all requirements met
	Active      bool     // in every prompt: always, available, and within the size limit
	Missing     []string // unmet requirements, such as "CLI: gh" and "ENV: TOKEN"
	Text        string   // its instructions, without front matter
	Problem     string   // what to fix, and how; empty if nothing
}

// Environment is where skills look for their requirements: that of the agent's
// commands.
type Environment struct {
	LookPath  func(file string) (string, error) // nil: [exec.LookPath]
	LookupEnv func(name string) (string, bool)  // nil: [os.LookupEnv]
}

// Limits of what the prompt shows of a skill, in bytes.
const (
	nameLimit        = 64
	descriptionLimit = 1024
)

// Load returns the skills of the workspace, an absolute path, then the built-in
// ones, both sorted. A workspace skill replaces a built-in one with the same name.
// Call it for every prompt: people and the agent add skills at any time. Unreadable
// skills are listed with the reason; Load fails only if the workspace cannot be
// opened.
//
// It writes the built-in skills into the workspace, and restores changed files, so
// that every tool can read them.
func Load(workspace string, env Environment) ([]Skill, error) {
	return load(workspace, env, install)
}

// Inspect is [Load] without writing files.
func Inspect(workspace string, env Environment) ([]Skill, error) {
	return load(workspace, env, func(*os.Root, string, []byte) error { return nil })
}

func load(workspace string, env Environment, install func(root *os.Root, name string, content []byte) error) ([]Skill, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
	if env.LookPath == nil {
		env.LookPath = exec.LookPath
	}
	if env.LookupEnv == nil {
		env.LookupEnv = os.LookupEnv
	}
	found := ofWorkspace(root)
	taken := map[string]bool{}
	for _, f := range found {
		taken[f.name], taken[f.front.name] = true, true
	}
	for _, f := range builtins(root, install) {
		if !taken[f.name] {
			found = append(found, f)
		}
	}
	skills := make([]Skill, len(found))
	for i, f := range found {
		skills[i] = f.skill(workspace, env)
	}
	activate(skills)
	return skills, nil
}

// skill converts a file to a Skill.
func (f file) skill(workspace string, env Environment) Skill {
	description := f.front.description
	if f.err != nil {
		description = fmt.Sprintf("(cannot be used: %v) %s", f.err, description)
	}
	name := cmp.Or(oneLine(f.front.name, nameLimit), oneLine(f.name, nameLimit))
	missing := env.missing(f.front)
	return Skill{
		Name:        name,
		Description: cmp.Or(oneLine(description, descriptionLimit), name),
		Location:    filepath.Join(workspace, filepath.FromSlash(f.path)),
		Builtin:     f.builtin,
		Always:      f.front.always,
		Available:   f.err == nil && len(missing) == 0,
		Missing:     missing,
		Text:        f.body,
		Problem:     f.problem(),
	}
}

// problem returns what to fix in a file.
func (f file) problem() string {
	switch {
	case f.err != nil:
		return fmt.Sprintf("it cannot be used: %v", f.err)
	case f.front.broken != "":
		return f.front.broken
	case f.cut:
		return fmt.Sprintf("it is larger than %d KB; shorten it, and move rarely needed parts to other files in its folder", fileLimit>>10)
	}
	return ""
}

// missing returns the unmet requirements.
func (e Environment) missing(front frontMatter) []string {
	var missing []string
	for _, name := range front.bins {
		if _, err := e.LookPath(name); err != nil {
			missing = append(missing, "CLI: "+name)
		}
	}
	for _, name := range front.env {
		if value, _ := e.LookupEnv(name); value == "" {
			missing = append(missing, "ENV: "+name)
		}
	}
	return missing
}
