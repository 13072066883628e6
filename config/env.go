package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// other has our variables that are not settings.
var other = []string{prefix + "HOME", prefix + "CONFIG", prefix + "FAILPOINT"}

// setting is a value and its key in viper.
type setting struct {
	key   string
	value any
}

// environment returns what the environment sets.
func (l *loader) environment(file map[string]any, providers map[string]string) []setting {
	table := map[string]target{}
	l.schema.variables(nil, nil, file, slices.Sorted(maps.Keys(providers)), table)
	var settings []setting
	for _, name := range slices.Sorted(maps.Keys(l.env)) {
		text := l.env[name]
		if !strings.HasPrefix(name, prefix) || text == "" || slices.Contains(other, name) || isServiceLink(name, text) {
			continue
		}
		to, known := table[name]
		if !known {
			l.problems = append(l.problems, fmt.Errorf("%s: no such setting; the nearest is %s", name, nearestName(name, table)))
			continue
		}
		if to.ambiguous != "" {
			l.problem(name, problem{to.path.String(), "the variable could as well mean " + to.ambiguous})
			continue
		}
		value, err := parse(to.schema.value, text)
		if err != nil {
			l.problem(name, problem{to.path.String(), err.Error()})
			continue
		}
		l.origins[to.path.String()] = name
		settings = append(settings, setting{key: strings.Join(to.keys, delimiter), value: value})
	}
	return settings
}

// target is the value that a variable sets.
type target struct {
	path      path
	keys      []string // the path as viper has it
	schema    *schema
	ambiguous string // another path that the variable fits
}

// variables adds to table what may be set at that path. Keys that a user chooses
// are those in the file, and names at the first such place, the providers.
func (s *schema) variables(at path, keys []string, file map[string]any, names []string, table map[string]target) {
	if s.value != nil {
		t := target{path: at, keys: keys, schema: s}
		if earlier, taken := table[at.variable()]; taken {
			t.ambiguous = earlier.path.String()
		}
		table[at.variable()] = t
		return
	}
	for key, field := range s.fields {
		below, _ := file[key].(map[string]any)
		field.variables(at.to(key), append(slices.Clip(keys), key), below, names, table)
	}
	if s.each == nil {
		return
	}
	taken := map[string]bool{}
	for _, masked := range slices.Sorted(maps.Keys(file)) {
		to := at.to(unmask(masked))
		taken[to.variable()] = true
		below, _ := file[masked].(map[string]any)
		s.each.variables(to, append(slices.Clip(keys), masked), below, nil, table)
	}
	for _, name := range names {
		if to := at.to(name); !taken[to.variable()] {
			s.each.variables(to, append(slices.Clip(keys), mask(name)), nil, nil, table)
		}
	}
}

// nearestName is the known variable most like name: one that ends like it, if a
// part of the path was left out.
func nearestName(name string, table map[string]target) string {
	known := slices.Sorted(maps.Keys(table))
	ending := "_" + strings.TrimPrefix(name, prefix)
	return slices.MinFunc(known, func(a, b string) int {
		return distance(name, ending, a) - distance(name, ending, b)
	})
}

func distance(name, ending, known string) int {
	if strings.HasSuffix(known, ending) {
		return 0
	}
	return levenshtein.ComputeDistance(name, known)
}

var (
	serviceName = regexp.MustCompile(`_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$`)
	servicePort = regexp.MustCompile(`_PORT(_[0-9]+_[A-Z]+(_[A-Z]+)?)?$`)
)

// isServiceLink tells whether a variable is one that Kubernetes puts into every
// container for a service whose name begins with holdfast.
func isServiceLink(name, value string) bool {
	if serviceName.MatchString(name) || strings.Contains(name, "_TCP_") || strings.Contains(name, "_UDP_") {
		return true
	}
	scheme, _, found := strings.Cut(value, "://")
	return found && servicePort.MatchString(name) && slices.Contains([]string{"tcp", "udp", "sctp"}, scheme)
}
