package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	answerLimit    = 1 << 20 // bytes
	candidateLimit = 100     // JSON objects tried in a free text
)

var errNoObject = fmt.Errorf("the answer has no JSON object with %s and %s; call %s", entryField, updateField, toolName)

// answer holds the arguments of save_memory.
type answer struct {
	Entry  *string `json:"history_entry"`
	Update *string `json:"memory_update"`
}

// ParseAnswer returns the history entry and the new memory from a model's answer to
// [Request]: the arguments of save_memory, or a JSON object with them in free text.
// update is empty if there is nothing to update. The error tells the model what to
// correct. An answer that was cut off never parses as a shorter one.
func ParseAnswer(text string) (entry, update string, err error) {
	if len(text) > answerLimit {
		return "", "", fmt.Errorf("the answer is larger than %d MB", answerLimit>>20)
	}
	found, err := findAnswer(text)
	if err != nil {
		return "", "", err
	}
	entry, update = clean([]byte(*found.Entry)), clean([]byte(*found.Update))
	if entry == "" {
		return "", "", fmt.Errorf("%s is empty; summarize what happened in 2 to 5 sentences", entryField)
	}
	if isPlaceholder(update) {
		update = ""
	}
	return entry, update, nil
}

// objectStart matches the start of a JSON object with one of the arguments.
var objectStart = regexp.MustCompile(`\{\s*"(` + entryField + `|` + updateField + `)"`)

// findAnswer decodes the last object in a text that has both arguments: a model may
// think aloud first.
func findAnswer(text string) (found answer, err error) {
	starts := append([][]int{{0}}, objectStart.FindAllStringIndex(text, candidateLimit)...)
	for _, start := range slices.Backward(starts) {
		var failed error
		if found, failed = decode(text[start[0]:]); failed == nil {
			return found, nil
		}
		if err == nil || errors.Is(err, errNoObject) {
			err = failed
		}
	}
	return answer{}, err
}

// decode reads an answer from the start of a text.
func decode(text string) (answer, error) {
	var a answer
	switch err := json.NewDecoder(strings.NewReader(text)).Decode(&a); {
	case err != nil, a.Entry == nil && a.Update == nil:
		return answer{}, errNoObject
	case a.Entry == nil:
		return answer{}, missing(entryField)
	case a.Update == nil:
		return answer{}, missing(updateField)
	}
	return a, nil
}

func missing(field string) error {
	return fmt.Errorf("%s is missing; call %s with %s and %s", field, toolName, entryField, updateField)
}

// placeholder matches what models write for an empty memory.
var placeholder = regexp.MustCompile(`(?i)^(<memory>)?\s*(\(empty\)|empty)?\s*(</memory>)?$`)

// isPlaceholder reports whether a trimmed text is a placeholder for an empty memory.
func isPlaceholder(text string) bool { return placeholder.MatchString(text) }
