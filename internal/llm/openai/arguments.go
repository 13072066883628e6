package openai

import (
	"encoding/json"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

// repairArguments returns a tool call's arguments as a JSON object whatever the
// model wrote: as they are, repaired, or as {"_raw": "…"}.
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
	if repaired, err := jsonrepair.Repair(text); err == nil && isObject(repaired) {
		return repaired
	}
	raw, _ := json.Marshal(map[string]string{"_raw": text}) // strings always marshal
	return string(raw)
}

func isObject(text string) bool {
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}
