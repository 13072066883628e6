package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var (
	// reference matches a reference to a variable, even an unclosed one, and $$.
	reference    = regexp.MustCompile(`\$\$|\$\{[^}]*\}?`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// expand replaces ${NAME} and ${NAME:-default} with environment variables and $$ with a
// dollar sign. Other dollar signs are kept. Defaults are not expanded.
func expand(text string, env map[string]string) (_ string, failed error) {
	expanded := reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		value, err := variable(found, env)
		if failed == nil {
			failed = err
		}
		return value
	})
	return expanded, failed
}

// variable returns the value of a reference.
func variable(reference string, env map[string]string) (string, error) {
	inner, closed := strings.CutSuffix(reference[len("${"):], "}")
	if !closed {
		return "", errors.New("has a ${ without a }; write $$ for a dollar sign")
	}
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	if !variableName.MatchString(name) {
		return "", errors.New("has ${…} with an invalid variable name; write $$ for a dollar sign")
	}
	value, set := env[name]
	if !set && !hasFallback {
		return "", fmt.Errorf("environment variable %s is not set; write ${%s:-} to allow that", name, name)
	}
	return cmp.Or(value, fallback), nil
}
