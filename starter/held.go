package starter

import (
	"maps"
	"slices"
	"sync"
)

// held are the messages whose signal failed, until the sweeper has brought them.
// While a session has one, its later messages wait for the sweeper too: signalled
// at once they would be answered first.
type held struct {
	mu       sync.Mutex
	messages map[string]map[string]bool // message IDs, by session
}

// any reports whether a session has a message that has to come first.
func (h *held) any(session string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.messages[session]) > 0
}

func (h *held) add(session, message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.messages == nil {
		h.messages = map[string]map[string]bool{}
	}
	if h.messages[session] == nil {
		h.messages[session] = map[string]bool{}
	}
	h.messages[session][message] = true
}

// all returns the messages that are held, by session.
func (h *held) all() map[string][]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[string][]string, len(h.messages))
	for session, messages := range h.messages {
		all[session] = slices.Collect(maps.Keys(messages))
	}
	return all
}

func (h *held) remove(session, message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.messages[session], message)
	if len(h.messages[session]) == 0 {
		delete(h.messages, session)
	}
}
