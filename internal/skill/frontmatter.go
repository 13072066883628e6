package skill

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// requireLimit bounds the requirements of each kind.
const requireLimit = 32

// frontMatter is the front matter of a SKILL.md. always and requires may be plain
// YAML, at the top or under holdfast, or, in nanobot's files, JSON or YAML under
// metadata.nanobot or metadata.openclaw.
type frontMatter struct {
	name        string
	description string
	always      bool
	bins        []string
	env         []string
	broken      string // what is wrong, and what to do; empty if nothing
}

// parse splits a SKILL.md into front matter and instructions. It skips broken parts
// of the front matter.
func parse(content string) (frontMatter, string) {
	front, body, closed := split(strings.ReplaceAll(content, "\r\n", "\n"))
	fields, lost := fieldsOf(front)
	m := frontMatter{name: scalar(fields["name"]), description: scalar(fields["description"])}
	switch {
	case !closed:
		m.broken = "its front matter has no end; add a line --- after it"
	case lost != "":
		m.broken = "its front matter is not valid YAML at " + oneLine(lost, nameLimit) + "; correct it"
	}
	own := []map[string]any{fields}
	for _, from := range []map[string]any{fields, mapping(fields["metadata"])} {
		for _, vendor := range []string{"holdfast", "nanobot", "openclaw"} {
			own = append(own, mapping(from[vendor]))
		}
	}
	for _, settings := range own {
		requires := mapping(settings["requires"])
		if nested := mapping(requires["nanobot"]); nested != nil {
			requires = mapping(nested["requires"])
		}
		m.always = m.always || truth(settings["always"])
		m.bins = add(m.bins, requires["bins"])
		m.env = add(m.env, requires["env"])
	}
	return m, strings.TrimSpace(body)
}

// split separates the front matter, between two lines "---", from the rest. Without
// the second line there is no front matter.
func split(text string) (front, body string, closed bool) {
	const fence = "---"
	at := 0
	for line := range strings.Lines(text) {
		marks := strings.TrimRight(line, " \t\n") == fence
		switch {
		case at == 0 && !marks:
			return "", text, true
		case at > 0 && marks:
			return front, text[at+len(line):], true
		case at > 0:
			front += line
		}
		at += len(line)
	}
	return "", text, text == ""
}

// fieldsOf decodes front matter. If it is not valid YAML, each entry is decoded
// separately, and an invalid one (such as a description with a colon, which nanobot
// accepts) counts as text. lost is the key of an entry that cannot be used at all.
func fieldsOf(front string) (fields map[string]any, lost string) {
	if err := yaml.Unmarshal([]byte(front), &fields); err == nil {
		return fields, ""
	}
	fields = map[string]any{}
	for _, entry := range entries(front) {
		var one map[string]any
		if err := yaml.Unmarshal([]byte(entry), &one); err == nil {
			maps.Copy(fields, one)
			continue
		}
		key, value, _ := strings.Cut(entry, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		fields[key] = strings.Trim(value, `"'`)
		if value == "" || strings.ContainsAny(value[:1], "[{") || strings.Contains(value, "\n") {
			lost = key
		}
	}
	return fields, lost
}

// entries splits YAML at the lines that are not indented.
func entries(front string) []string {
	var list []string
	for line := range strings.Lines(front) {
		if len(list) == 0 || !strings.ContainsAny(line[:1], " \t\n#}]") {
			list = append(list, line)
		} else {
			list[len(list)-1] += line
		}
	}
	return list
}

// mapping returns value if it is a mapping, or text that decodes to one; else nil.
func mapping(value any) map[string]any {
	switch value := value.(type) {
	case map[string]any:
		return value
	case string:
		var decoded map[string]any
		if yaml.Unmarshal([]byte(value), &decoded) == nil {
			return decoded
		}
	}
	return nil
}

// scalar returns a single value as text; empty for lists and mappings.
func scalar(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(value)
	}
	return ""
}

func truth(value any) bool {
	return slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(strings.TrimSpace(scalar(value))))
}

// add appends the names in value, a list or a single name, that list lacks.
func add(list []string, value any) []string {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	for _, value := range values {
		name := oneLine(scalar(value), descriptionLimit)
		if name != "" && len(list) < requireLimit && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
