package slacktest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// arguments of a call: strings unchanged, everything else as JSON.
type arguments map[string]string

// readArguments reads the arguments from a query, a form or a JSON object.
func readArguments(r *http.Request) (arguments, error) {
	args := arguments{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		return args, args.add(body)
	}
	if err := r.ParseMultipartForm(64 << 20); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, err
	}
	for key, values := range r.Form {
		args[key] = values[0]
	}
	return args, nil
}

func (a arguments) add(body []byte) error {
	if len(body) == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return err
	}
	for key, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		if text != "null" {
			a[key] = text
		}
	}
	return nil
}

func (a arguments) yes(key string) bool {
	value, err := strconv.ParseBool(a[key])
	return err == nil && value
}

func (a arguments) number(key string, otherwise int) int {
	n, err := strconv.Atoi(a[key])
	if err != nil || n <= 0 {
		return otherwise
	}
	return n
}

func (a arguments) list(key string) []string {
	return strings.FieldsFunc(a[key], func(r rune) bool { return r == ',' || r == ' ' })
}

// raw returns a JSON argument; nil if it is not given.
func (a arguments) raw(key string) json.RawMessage {
	if a[key] == "" {
		return nil
	}
	return json.RawMessage(a[key])
}
