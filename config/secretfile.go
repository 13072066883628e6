package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fileSuffix ends the name of a variable that names a file with the value.
const fileSuffix = "_FILE"

// secretSuffixes end the names of variables that hold secrets.
var secretSuffixes = []string{"_KEY", "_TOKEN", "_SECRET"}

// readFiles replaces each variable NAME_FILE by NAME with the file's content, as Docker and
// Kubernetes mount secrets. Files of other programs' variables are left alone.
func (l *loader) readFiles() {
	for _, from := range slices.Sorted(maps.Keys(l.env)) {
		name, is := strings.CutSuffix(from, fileSuffix)
		isSecret := slices.ContainsFunc(secretSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
		if !is || l.env[from] == "" || !strings.HasPrefix(name, prefix) && !isSecret {
			continue
		}
		path := l.env[from]
		delete(l.env, from)
		if l.env[name] != "" {
			continue
		}
		data, err := readFile(path)
		if err != nil {
			l.problems = append(l.problems, fmt.Errorf("%s: %w", from, err))
			continue
		}
		l.env[name] = strings.TrimSpace(string(data))
	}
}
