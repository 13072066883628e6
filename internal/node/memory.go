package node

import (
	"context"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// Versions stores versions of memory files.
type Versions struct{ Store *store.Store }

// Save implements [memory.Versions].
func (v Versions) Save(ctx context.Context, path, hash string, content []byte) error {
	return v.Store.SaveVersion(ctx, path, hash, content)
}

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
	p, known := platforms(config.Channels{})[channel]
	switch {
	case !known:
		return memory.Workspace
	case p.isDirect(chat):
		return memory.Sender
	default:
		return memory.Chat
	}
}
