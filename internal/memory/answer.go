package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

const (
	answerLimit = 1 << 20 // bytes of an answer that is looked at
	// repairLimit bounds, in bytes, what is repaired: the time that the library
	// takes grows with the square of the length.
	repairLimit = 32 << 10
	// depthLimit is how deep in other values the fields may be.
	depthLimit = 8
	// tryLimit is how many places in a text are tried as the beginning of JSON.
	tryLimit = 100
)

// ParseAnswer takes the two texts out of a model's answer to [Request]: out of the
// arguments of save_memory, also encoded once more or within other values, or out
// of JSON somewhere in a free text. A value that is no string is turned into one.
// update is empty if there is nothing to update. The error says to a model what is
// wrong with an answer; then it should be asked again. An answer that was cut off
// is such an error, as far as can be seen: the caller looks at the finish reason.
func ParseAnswer(answer string) (entry, update string, err error) {
	if len(answer) > answerLimit {
		return "", "", fmt.Errorf("the answer is larger than %d MB", answerLimit>>20)
	}
	// This is how a provider hands on arguments that it could not repair.
	var unrepaired struct {
		Raw string `json:"_raw"`
	}
	if json.Unmarshal([]byte(answer), &unrepaired) == nil && unrepaired.Raw != "" {
		answer = unrepaired.Raw
	}
	fields, err := search(strings.TrimSpace(answer), depthLimit)
	if err != nil {
		return "", "", err
	}
	for _, name := range []string{entryField, updateField} {
		if _, ok := fields[name]; !ok {
			return "", "", fmt.Errorf("%s is missing; call %s with %s and %s", name, toolName, entryField, updateField)
		}
	}
	entry, update = textOf(fields[entryField]), textOf(fields[updateField])
	if entry == "" {
		return "", "", fmt.Errorf("%s is empty; say in 2 to 5 sentences what happened", entryField)
	}
	if saysNothing(update) {
		update = ""
	}
	return entry, update, nil
}

// nothing matches how models write a memory that has nothing in it.
var nothing = regexp.MustCompile(`(?i)^(<memory>)?\s*(\(empty\)|empty)?\s*(</memory>)?$`)

// saysNothing reports whether there is no fact in a text, without white space
// around it, that is to be the memory.
func saysNothing(text string) bool { return nothing.MatchString(text) }

var (
	errNone   = fmt.Errorf("there is no JSON object with %s and %s in the answer; call %s", entryField, updateField, toolName)
	errCutOff = errors.New("the answer ends in the middle of its JSON; make it shorter")
)

// search finds the object with the fields in a text.
func search(text string, depth int) (map[string]any, error) {
	if depth == 0 {
		return nil, errNone
	}
	var value any
	if decode(strings.NewReader(text), &value) == len(text) {
		if found := find(value, depth-1); found != nil {
			return found, nil
		}
		return nil, errNone
	}
	if found := scattered(text, depth); found != nil {
		return found, nil
	}
	return repaired(text, depth)
}

// scattered looks through the objects in a text and takes the last that fits: a
// model may think aloud first.
func scattered(text string, depth int) map[string]any {
	var best map[string]any
	for range tryLimit {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		text = text[at:]
		var value any
		read := decode(strings.NewReader(text), &value)
		if found := find(value, depth-1); found != nil && (complete(found) || !complete(best)) {
			best = found
		}
		text = text[max(read, 1):]
	}
	return best
}

func complete(fields map[string]any) bool {
	_, entry := fields[entryField]
	_, update := fields[updateField]
	return entry && update
}

// repaired mends the object around the fields. The library also closes what was
// left open; but half a memory must not replace a whole one.
func repaired(text string, depth int) (map[string]any, error) {
	field := strings.Index(text, entryField)
	if update := strings.Index(text, updateField); field < 0 || update >= 0 && update < field {
		field = update
	}
	if field < 0 {
		return nil, errNone
	}
	start := strings.LastIndexByte(text[:field], '{')
	if start < 0 {
		return nil, errNone
	}
	object, closed := enclosed(text[start:])
	if !closed {
		return nil, errCutOff
	}
	broken := fmt.Errorf("the JSON in the answer is broken; call %s", toolName)
	if len(object) > repairLimit {
		return nil, broken
	}
	mended, err := jsonrepair.Repair(object)
	if err != nil {
		return nil, broken
	}
	var value any
	if decode(strings.NewReader(mended), &value) == 0 {
		return nil, broken
	}
	if found := find(value, depth-1); found != nil {
		return found, nil
	}
	return nil, broken
}

// enclosed is the object that text begins with, up to its closing brace.
func enclosed(text string) (object string, closed bool) {
	depth, quoted, escaped := 0, false, false
	for i := range len(text) {
		switch c := text[i]; {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return text[:i+1], true
			}
		}
	}
	return "", false
}

// find looks for the object with the fields, or one of them, in a value.
func find(value any, depth int) map[string]any {
	if depth <= 0 {
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		if value[entryField] != nil || value[updateField] != nil {
			return value
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if found := find(value[key], depth-1); found != nil {
				return found
			}
		}
	case []any:
		for _, element := range value {
			if found := find(element, depth-1); found != nil {
				return found
			}
		}
	case string:
		if strings.Contains(value, entryField) || strings.Contains(value, updateField) {
			found, _ := search(strings.TrimSpace(value), depth-1) // nothing found is nothing found
			return found
		}
	}
	return nil
}

// decode reads one JSON value from the beginning of r, and returns how many bytes
// it had; 0 if it is none.
func decode(r *strings.Reader, value *any) int {
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	if err := decoder.Decode(value); err != nil {
		*value = nil
		return 0
	}
	return int(decoder.InputOffset())
}

// textOf is a value as text: strings as they are, a list of them a line each,
// others as JSON.
func textOf(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return clean([]byte(value))
	case []any:
		if lines, ok := strs(value); ok {
			return clean([]byte(strings.Join(lines, "\n")))
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return clean(out.Bytes())
}

func strs(values []any) ([]string, bool) {
	lines := make([]string, len(values))
	for i, value := range values {
		line, ok := value.(string)
		if !ok {
			return nil, false
		}
		lines[i] = line
	}
	return lines, true
}
