package metrics

import (
	"strings"
	"sync"
)

const (
	// nameLimit bounds how many names become values of a label: users may choose any
	// model, and servers may have any tools.
	nameLimit = 200
	// otherName replaces the names beyond the limit.
	otherName = "other"
)

// names are those that are values of a label so far.
type names struct {
	mu   sync.Mutex
	seen map[string]bool
}

// label is a name as a value of the label.
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
