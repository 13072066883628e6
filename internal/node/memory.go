package node

import (
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/memory"
)

// Scopes returns a function that maps a message to its memory scope.
func Scopes(cfg config.Memory) func(channel, chat, sender string) memory.Scope {
	return func(channel, chat, sender string) memory.Scope {
		kind := memory.Kind(cfg.Scope)
		if cfg.Scope == config.MemoryAuto {
			kind = usualScope(channel, chat)
		}
		scope, err := memory.ScopeOf(kind, channel, chat, sender)
		if err != nil { // an unknown sender: only the shared memory
			return memory.Scope{}
		}
		return scope
	}
}

// usualScope separates the memory of people and chats on platforms where several people
// write.
func usualScope(channel, chat string) memory.Kind {
	p, known := platform(config.Channels{}, channel)
	switch {
	case !known:
		return memory.Workspace
	case p.isDirect(chat):
		return memory.Sender
	default:
		return memory.Chat
	}
}
