package openai

import (
	"encoding/json"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

// repairLimit bounds, in bytes, what is repaired: the library takes quadratic time,
// a second for this length.
const repairLimit = 32 << 10

// repairArguments returns a tool call's arguments as a JSON object: unchanged if
// valid, repaired if possible, else as {"_raw": "…"}.
func repairArguments(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		return "{}"
	}
	if isObject(text) {
		return text
	}
	var inner string
	if json.Unmarshal([]byte(text), &inner) == nil && isObject(inner) {
		return inner
	}
	if len(text) <= repairLimit {
		repaired, err := jsonrepair.Repair(text)
		if repaired = strings.TrimSpace(repaired); err == nil && isObject(repaired) {
			return repaired
		}
	}
	raw, _ := json.Marshal(map[string]string{"_raw": text}) // strings always marshal
	return string(raw)
}

func isObject(text string) bool {
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}
