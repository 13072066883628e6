package node

import (
	"context"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// Versions keeps the versions of memory in the store.
type Versions struct{ Store *store.Store }

// Save implements [memory.Versions].
func (v Versions) Save(ctx context.Context, path, hash string, content []byte) error {
	return v.Store.SaveVersion(ctx, path, hash, content)
}

// Scopes is whose memory a message belongs to, as the config says.
func Scopes(cfg config.Memory) func(channel, chat, sender string) memory.Scope {
	return func(channel, chat, sender string) memory.Scope {
		kind := memory.Kind(cfg.Scope)
		if cfg.Scope == config.MemoryAuto {
			kind = usualScope(channel, chat)
		}
		scope, err := memory.ScopeOf(kind, channel, chat, sender)
		if err != nil { // who wrote is not known: they get no memory but the shared one
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
