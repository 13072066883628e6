package metrics

import (
	"strings"
	"sync"
)

const (
	// nameLimit bounds the values of a label: users may choose any model, and MCP servers
	// may offer any tools.
	nameLimit = 200
	// otherName replaces names beyond the limit.
	otherName = "other"
)

// names is the set of values that a label has so far.
type names struct {
	mu   sync.Mutex
	seen map[string]bool
}

// label returns the label value for a name.
func (n *names) label(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.seen[name]:
		return name
	case len(n.seen) >= nameLimit:
		return otherName
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	n.seen[name] = true
	return name
}
