package config

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// parse converts text to type t, which must be a type of Config. Errors say what was
// expected and quote the text, which is never secret: every text is a valid secret.
func parse(t reflect.Type, text string) (any, error) {
	switch t {
	case reflect.TypeFor[Secret]():
		return Secret(text), nil
	case reflect.TypeFor[time.Duration]():
		return ParseDuration(text)
	case reflect.TypeFor[[]string]():
		return parseList(text), nil
	}
	switch t.Kind() {
	case reflect.String:
		return text, nil
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("must be a whole number, not %q", text)
		}
		return n, nil
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("must be a number, not %q", text)
		}
		return x, nil
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("must be true or false, not %q", text)
		}
		return b, nil
	default:
		return nil, fmt.Errorf("has the unsupported type %s", t)
	}
}

// expected describes a value of type t in errors.
func expected(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration such as 60s"
	case t == reflect.TypeFor[[]string]():
		return "a list"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	default:
		return "a string"
	}
}

// ParseDuration is [time.ParseDuration] with leading days.
func ParseDuration(text string) (time.Duration, error) {
	invalid := fmt.Errorf("must be a duration such as 60s, 10m or 30d, not %q", text)
	days, rest, found := strings.Cut(text, "d")
	if !found {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, invalid
		}
		return d, nil
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, invalid
	}
	var extra time.Duration
	if rest != "" {
		if extra, err = time.ParseDuration(rest); err != nil || extra < 0 {
			return 0, invalid
		}
	}
	d := time.Duration(n)*day + extra
	if d < 0 {
		return 0, errors.New("is too long")
	}
	return d, nil
}

// parseList parses a comma-separated list.
func parseList(text string) []string {
	list := []string{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
