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

// Import returns the turns to import. The session is key, or if that is empty, the one
// named by the file's metadata or path. Scope returns the memory scope of a turn from
// its route, including the sender.
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

// importRoute returns the session a file belongs to: the requested one, else the one in
// the metadata, else the one in the file name, which is channel_chat in nanobot.
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
		return domain.Route{}, fmt.Errorf("%s: unknown session; name it with --key, such as http:main or telegram:12345", path)
	}
	return route, nil
}

// routeOf parses a session key.
func routeOf(key string) domain.Route {
	parts := strings.SplitN(key+"::", ":", 4)
	for i, part := range parts {
		if plain, err := url.QueryUnescape(part); err == nil {
			parts[i] = plain
		}
	}
	return domain.Route{Channel: parts[0], Chat: parts[1], Thread: parts[2]}
}
