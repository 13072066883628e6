package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// schema describes Config or a part of it: a mapping with fixed keys, a mapping whose
// keys users choose, or a value.
type schema struct {
	fields map[string]*schema
	each   *schema
	value  reflect.Type
}

// squashed is the tag of an embedded struct whose keys belong to the one around it.
const squashed = ",squash"

func describe(t reflect.Type) *schema {
	switch {
	case t.Kind() == reflect.Struct:
		s := &schema{fields: map[string]*schema{}}
		for field := range t.Fields() {
			switch key := field.Tag.Get("yaml"); key {
			case "-":
			case squashed:
				maps.Copy(s.fields, describe(field.Type).fields)
			default:
				s.fields[key] = describe(field.Type)
			}
		}
		return s
	case t.Kind() == reflect.Map:
		return &schema{each: describe(t.Elem())}
	default:
		return &schema{value: t}
	}
}

func (s *schema) isList() bool { return s.value == reflect.TypeFor[[]string]() }

// isOptional reports whether an empty text leaves the value unset.
func (s *schema) isOptional() bool {
	return s.value.Kind() != reflect.String
}

func (s *schema) expected() string {
	if s.value != nil {
		return expected(s.value)
	}
	return "a mapping of keys to values"
}

// path is the list of keys that leads to a value.
type path []string

func (p path) to(key string) path { return append(slices.Clip(p), key) }

// String joins the path with dots and quotes keys that contain dots.
func (p path) String() string {
	parts := make([]string, len(p))
	for i, key := range p {
		if parts[i] = key; key == "" || strings.ContainsAny(key, ". \t\n\"") || !strconv.CanBackquote(key) {
			parts[i] = strconv.Quote(key)
		}
	}
	return strings.Join(parts, ".")
}

// variable returns the environment variable of the path.
func (p path) variable() string {
	name := strings.Map(func(r rune) rune {
		if (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') {
			return r
		}
		return '_'
	}, strings.ToUpper(strings.Join(p, "_")))
	return prefix + name
}

// paths returns the paths of all values, with [anyKey] for keys that users choose.
func (s *schema) paths(at path) []path {
	if s.value != nil {
		return []path{at}
	}
	all := []path{at}
	for key, field := range s.fields {
		all = append(all, field.paths(at.to(key))...)
	}
	if s.each != nil {
		all = append(all, s.each.paths(at.to(anyKey))...)
	}
	return all
}

// anyKey is a placeholder for a key that users choose.
const anyKey = "NAME"

// nearest returns the known path most similar to p.
func (s *schema) nearest(p path) string {
	known := map[string]path{}
	for _, k := range s.paths(nil)[1:] {
		if k[len(k)-1] != anyKey {
			known[k.variable()] = k
		}
	}
	best := known[nearestName(p.variable(), known)]
	const worse = 4 // than another level
	off := worse * misspelling(p[len(p)-1], best[len(best)-1])
	for _, name := range slices.Sorted(maps.Keys(known)) { // the right key at the wrong level
		k := known[name]
		if d := worse*misspelling(p[len(p)-1], k[len(k)-1]) + len(k); d < off {
			best, off = k, d
		}
	}
	return best.String()
}

// misspelling is how many mistakes make one word of another; letters in another order are
// one.
func misspelling(a, b string) int {
	sorted := func(s string) string { return string(slices.Sorted(slices.Values([]byte(s)))) }
	if a != b && sorted(a) == sorted(b) {
		return 1
	}
	return levenshtein.ComputeDistance(a, b)
}

// nearestName returns the known variable most similar to name, preferably one that ends
// with it.
func nearestName[T any](name string, known map[string]T) string {
	ending := "_" + strings.TrimPrefix(name, prefix)
	distance := func(known string) int {
		switch {
		case known == name:
			return -1
		case strings.HasSuffix(known, ending):
			return 0
		}
		return levenshtein.ComputeDistance(name, known)
	}
	return slices.MinFunc(slices.Sorted(maps.Keys(known)), func(a, b string) int { return distance(a) - distance(b) })
}
