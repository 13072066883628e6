package transcript

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// Import returns what a file has to import. The session is key if that is not
// empty, else the one that the file or its path names. The memory scope of each turn
// is scope of its route, whose Sender is that of the turn.
func (f *File) Import(key, path string, scope func(domain.Route) string) (store.Import, error) {
	route, err := importRoute(key, f.head, path)
	if err != nil {
		return store.Import{}, err
	}
	in := store.Import{
		Session: domain.SessionKey(route.Channel, route.Chat, route.Thread), Route: route, CreatedAt: f.head.CreatedAt.Time,
	}
	in.Turns = importTurns(f, in.Session, func(sender string) string {
		from := route
		from.Sender = sender
		return scope(from)
	})
	return in, nil
}

// importRoute says which session a file belongs to: the one asked for, else that of
// the file's metadata, else that of its name, in which nanobot has channel_chat.
func importRoute(asked string, head header, path string) (domain.Route, error) {
	ours, _ := head.Metadata[sessionKey].(string)
	name, _ := strings.CutSuffix(filepath.Base(path), ".jsonl")
	route := routeOf(cmp.Or(asked, ours))
	if asked == "" && ours == "" {
		written := cmp.Or(head.Key, strings.Replace(name, "_", ":", 1))
		route.Channel, route.Chat, _ = strings.Cut(written, ":")
		route.Chat, route.Thread, _ = strings.Cut(route.Chat, ":")
	}
	if route.Channel == "" || route.Chat == "" || route.Channel == domain.SubagentChannel {
		return domain.Route{}, fmt.Errorf("%s: which session it is cannot be told; say it with --key, such as http:main or telegram:12345", path)
	}
	return route, nil
}

// routeOf takes a session's key apart.
func routeOf(key string) domain.Route {
	parts := strings.SplitN(key+"::", ":", 4)
	for i, part := range parts {
		if plain, err := url.QueryUnescape(part); err == nil {
			parts[i] = plain
		}
	}
	return domain.Route{Channel: parts[0], Chat: parts[1], Thread: parts[2]}
}
