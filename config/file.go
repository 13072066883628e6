package config

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// read decodes a YAML document into a tree with values of the types of the schema. It
// records invalid values as problems, and fails if the document is not valid YAML.
func (l *loader) read(r io.Reader) (map[string]any, error) {
	var doc yaml.Node
	decoder := yaml.NewDecoder(r)
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, l.broken(err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, l.broken(err)
		}
		return nil, fmt.Errorf("%s: has more than one document", l.name)
	}
	// Decoding finds duplicate keys and recursive aliases.
	var whole any
	if err := doc.Decode(&whole); err != nil {
		return nil, l.broken(err)
	}
	settings, _ := l.node(doc.Content[0], l.schema, nil).(map[string]any)
	return settings, nil
}

// broken formats an error of the YAML library, one line for each problem.
func (l *loader) broken(err error) error {
	details := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if typed := (*yaml.TypeError)(nil); errors.As(err, &typed) {
		details = typed.Errors
	}
	problems := make([]error, len(details))
	for i, detail := range details {
		where := l.name
		if rest, ok := strings.CutPrefix(detail, "line "); ok {
			if line, text, ok := strings.Cut(rest, ": "); ok {
				where, detail = l.name+":"+line, text
			}
		}
		problems[i] = fmt.Errorf("%s: is not valid YAML: %s", where, detail)
	}
	return errors.Join(problems...)
}

// node returns the value of n, or nil if it sets nothing.
func (l *loader) node(n *yaml.Node, s *schema, at path) any {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	where := fmt.Sprintf("%s:%d", l.name, n.Line)
	var value any
	var err error
	switch {
	case n.ShortTag() == "!!null", n.Kind == yaml.MappingNode && len(n.Content) == 0 && s.each != nil:
		return nil
	case n.Kind == yaml.MappingNode && s.value == nil:
		return l.mapping(n, s, at)
	case n.Kind == yaml.SequenceNode && s.isList():
		value, err = l.list(n)
	case n.Kind == yaml.ScalarNode && s.value != nil && !s.isList():
		value, err = l.scalar(n, s)
	default:
		err = fmt.Errorf("must be %s, not %s", s.expected(), kind(n))
	}
	l.origins[at.String()] = where
	if err != nil {
		name := at.String()
		if name == "" {
			name = "the file"
		}
		l.problem(where, problem{name, err.Error()})
		return nil
	}
	return value
}

func (l *loader) mapping(n *yaml.Node, s *schema, at path) any {
	settings := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		to := at.to(key.Value)
		switch field := s.fields[key.Value]; {
		case field != nil:
			settings[key.Value] = l.node(value, field, to)
		case s.each != nil && key.Kind == yaml.ScalarNode:
			settings[key.Value] = l.node(value, s.each, to)
		default:
			where := fmt.Sprintf("%s:%d", l.name, key.Line)
			l.problem(where, problem{to.String(), "unknown setting; did you mean " + l.schema.nearest(to) + "?"})
		}
	}
	return settings
}

func (l *loader) scalar(n *yaml.Node, s *schema) (any, error) {
	text, err := expand(n.Value, l.env)
	if err != nil {
		return nil, err
	}
	if text == "" && n.Value != "" && s.isOptional() {
		return nil, nil
	}
	return parse(s.value, text)
}

func (l *loader) list(n *yaml.Node) (any, error) {
	list := []string{}
	for _, item := range n.Content {
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("must be a list of strings, not of %s", kind(item))
		}
		text, err := expand(item.Value, l.env)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// kind names the kind of n in errors. Values are left out, as they may be secret.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "a single value"
	}
}
