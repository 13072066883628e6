package matrix

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	// inviteTimeout bounds how long it is tried to join a room: its servers may be away. At the
	// next start it is tried again.
	inviteTimeout = 10 * time.Minute
	// maxJoining bounds the rooms that are joined at once. Further invitations wait for the
	// next start.
	maxJoining = 20
)

// declined is why an invitation to an encrypted room is declined, as people see it.
const declined = "I cannot read encrypted rooms. Please invite me to a room without encryption."

// invitation is what is known of a room before we join.
type invitation struct {
	State struct {
		Events []json.RawMessage `json:"events"`
	} `json:"invite_state"`
}

// invitations are answered beside what is received.
type invitations struct {
	*platform
	self    account
	in      chat.Inbox
	running sync.WaitGroup

	mu      sync.Mutex
	joining map[string]bool // rooms
}

func newInvitations(p *platform, self account, in chat.Inbox) *invitations {
	return &invitations{platform: p, self: self, in: in, joining: map[string]bool{}}
}

// take answers the invitations in an answer to /sync.
func (v *invitations) take(ctx context.Context, n news) {
	for id, room := range n.Rooms.Invite {
		v.mu.Lock()
		busy := v.joining[id] || len(v.joining) >= maxJoining
		if !busy {
			v.joining[id] = true
		}
		v.mu.Unlock()
		if busy {
			continue
		}
		v.running.Go(func() {
			v.answer(ctx, id, room)
			v.mu.Lock()
			defer v.mu.Unlock()
			delete(v.joining, id)
		})
	}
}

// answer joins a room or declines. Somebody who is not let in may open a direct chat, in
// which they are told how to be.
func (v *invitations) answer(ctx context.Context, id string, room invitation) {
	by, direct, encrypted := "", false, false
	for _, e := range v.parse(id, room.State.Events) {
		encrypted = encrypted || e.Type == typeEncryption
		if e.Type == typeMember && e.StateKey == v.self.ID && e.Content.Membership == "invite" {
			by, direct = e.Sender, e.Content.Direct
		}
	}
	log := v.o.Logger.With("room", id, "user_id", by)
	ctx, cancel := context.WithTimeout(ctx, inviteTimeout)
	defer cancel()
	err := chat.Retry(ctx, log, "answering an invitation", func(ctx context.Context) error {
		if encrypted {
			log.Warn("invitation declined: the room is encrypted")
			return v.call(ctx, request{name: "decline", method: http.MethodPost, path: roomPath(id, "leave"), body: map[string]any{"reason": declined}}, nil)
		}
		known, err := v.in.LetsIn(ctx, by)
		if err != nil {
			return err
		}
		if !known && !direct {
			log.Info("invitation ignored: the user is not allowed")
			return nil
		}
		return v.call(ctx, request{name: "join", method: http.MethodPost, path: "/_matrix/client/v3/join/" + url.PathEscape(id), body: map[string]any{}}, nil)
	})
	if err != nil {
		log.Warn("invitation not answered", "err", err)
	}
}
