package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// other are the HOLDFAST_ variables that are not settings.
var other = []string{prefix + "HOME", prefix + "CONFIG", prefix + "FAILPOINT"}

// setting is a value from the environment.
type setting struct {
	target
	value any
}

// environment returns the settings in the environment.
func (l *loader) environment(file map[string]any, providers map[string]string) []setting {
	table := map[string]target{}
	l.schema.variables(target{}, file, slices.Sorted(maps.Keys(providers)), table)
	var settings []setting
	for _, name := range slices.Sorted(maps.Keys(l.env)) {
		text := l.env[name]
		if !strings.HasPrefix(name, prefix) || text == "" || slices.Contains(other, name) || isServiceLink(name, text) {
			continue
		}
		to, known := table[name]
		if !known {
			l.problems = append(l.problems, fmt.Errorf("%s: unknown setting; did you mean %s?", name, nearestName(name, table)))
			continue
		}
		if to.ambiguous != "" {
			l.problem(name, problem{to.path.String(), "the variable also fits " + to.ambiguous})
			continue
		}
		value, err := parse(to.schema.value, text)
		if err != nil {
			l.problem(name, problem{to.path.String(), err.Error()})
			continue
		}
		l.origins[to.path.String()] = name
		settings = append(settings, setting{to, value})
	}
	return settings
}

// target is the value that a variable sets.
type target struct {
	path      path
	named     bool // the path has a key that a user chose
	schema    *schema
	ambiguous string // another path that the variable fits
}

func (t target) to(key string, named bool) target {
	return target{path: t.path.to(key), named: t.named || named}
}

// variables adds the variables of all values below a path to table. Keys that users
// choose are those in the file and, at the first such place, names: the providers.
func (s *schema) variables(at target, file map[string]any, names []string, table map[string]target) {
	if s.value != nil {
		variable := at.path.variable()
		at.schema = s
		if earlier, taken := table[variable]; taken {
			at.ambiguous = earlier.path.String()
		}
		table[variable] = at
		return
	}
	for key, field := range s.fields {
		below, _ := file[key].(map[string]any)
		field.variables(at.to(key, false), below, names, table)
	}
	if s.each == nil {
		return
	}
	taken := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(file)) {
		to := at.to(key, true)
		taken[to.path.variable()] = true
		below, _ := file[key].(map[string]any)
		s.each.variables(to, below, nil, table)
	}
	for _, name := range names {
		if to := at.to(name, true); !taken[to.path.variable()] {
			s.each.variables(to, nil, nil, table)
		}
	}
}

var (
	serviceName = regexp.MustCompile(`_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$`)
	servicePort = regexp.MustCompile(`_PORT(_[0-9]+_[A-Z]+(_[A-Z]+)?)?$`)
)

// isServiceLink reports whether a variable is one that Kubernetes sets in containers for
// a service whose name begins with holdfast.
func isServiceLink(name, value string) bool {
	if serviceName.MatchString(name) || strings.Contains(name, "_TCP_") || strings.Contains(name, "_UDP_") {
		return true
	}
	scheme, _, found := strings.Cut(value, "://")
	return found && servicePort.MatchString(name) && slices.Contains([]string{"tcp", "udp", "sctp"}, scheme)
}
