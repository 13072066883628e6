// Package skill finds an agent's skills: folders with a SKILL.md that says how a
// kind of work is done. The prompt lists them, and the agent reads the file of one
// when it needs it; a few are in every prompt in full.
package skill

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Skill is what is known of a skill.
type Skill struct {
	Name        string   // one line: its front matter's, else its folder's
	Description string   // one line: what it is for; the name if it does not say
	Location    string   // absolute path of its SKILL.md, in the workspace: read_file may read it
	Builtin     bool     // comes with Holdfast
	Always      bool     // asks to be in every prompt
	Available   bool     // it can be read and all that it requires is there
	Active      bool     // is in every prompt: it asks to be, is available, and there is room
	Missing     []string // what it requires and is not there, such as "CLI: gh" and "ENV: TOKEN"
	Text        string   // its instructions, without front matter
	Problem     string   // what people should put right, and how; empty if nothing
}

// Environment says what is there for a skill to use. It should be that of the
// agent's commands.
type Environment struct {
	LookPath  func(file string) (string, error) // nil: [exec.LookPath]
	LookupEnv func(name string) (string, bool)  // nil: [os.LookupEnv]
}

// What is shown of a skill is bounded, in bytes.
const (
	nameLimit        = 64
	descriptionLimit = 1024
)

// Load finds the skills of the workspace, which is an absolute path, and the
// built-in ones, each part sorted. A skill of the workspace hides a built-in one
// of its name. It is to be called whenever a prompt is built: people and the agent
// itself add skills at any time. A skill that cannot be read is listed with the
// reason; the error is for a workspace that cannot be opened.
//
// The files of the built-in skills are written into the workspace, and restored
// when they differ, so that every tool can read them.
func Load(workspace string, env Environment) ([]Skill, error) {
	return load(workspace, env, install)
}

// Inspect is Load for a look at the skills: it writes no files.
func Inspect(workspace string, env Environment) ([]Skill, error) {
	return load(workspace, env, func(*os.Root, string, []byte) error { return nil })
}

func load(workspace string, env Environment, install func(root *os.Root, name string, content []byte) error) ([]Skill, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
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

// skill is what there is to know of a file.
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

// problem is what people should put right about a file.
func (f file) problem() string {
	switch {
	case f.err != nil:
		return fmt.Sprintf("it cannot be used: %v", f.err)
	case f.front.broken != "":
		return f.front.broken
	case f.cut:
		return fmt.Sprintf("it is larger than %d KB; shorten it, and move what is seldom needed into files beside it", fileLimit>>10)
	}
	return ""
}

// missing names what is required and not there.
func (e Environment) missing(front frontMatter) []string {
	var missing []string
	for _, name := range front.bins {
		if !e.hasCommand(name) {
			missing = append(missing, "CLI: "+name)
		}
	}
	for _, name := range front.env {
		if !e.hasVariable(name) {
			missing = append(missing, "ENV: "+name)
		}
	}
	return missing
}

func (e Environment) hasCommand(name string) bool {
	look := e.LookPath
	if look == nil {
		look = exec.LookPath
	}
	_, err := look(name)
	return err == nil
}

func (e Environment) hasVariable(name string) bool {
	look := e.LookupEnv
	if look == nil {
		look = os.LookupEnv
	}
	value, _ := look(name)
	return value != ""
}
