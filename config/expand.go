package config

import (
	"errors"
	"fmt"
	"strings"
)

// expand replaces ${NAME} and ${NAME:-default} with environment variables and $$ with a
// dollar sign. Other dollar signs are kept. Defaults are not expanded.
func expand(text string, env map[string]string) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		switch {
		case !found:
			return out.String(), nil
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			text = after[1:]
		case strings.HasPrefix(after, "{"):
			inner, rest, closed := strings.Cut(after[1:], "}")
			if !closed {
				return "", errors.New("has a ${ without a }; write $$ for a dollar sign")
			}
			value, err := variable(inner, env)
			if err != nil {
				return "", err
			}
			out.WriteString(value)
			text = rest
		default:
			out.WriteByte('$')
			text = after
		}
	}
}

func variable(inner string, env map[string]string) (string, error) {
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	if !validName(name) {
		return "", errors.New("has ${…} with an invalid variable name; write $$ for a dollar sign")
	}
	value, set := env[name]
	switch {
	case value != "":
		return value, nil
	case hasFallback:
		return fallback, nil
	case !set:
		return "", fmt.Errorf("environment variable %s is not set; write ${%s:-} to allow that", name, name)
	default:
		return "", nil
	}
}

func validName(name string) bool {
	for i, r := range name {
		letter := r == '_' || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
