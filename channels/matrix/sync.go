package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	cursorSync = "sync" // everything before this position was accepted
	pollWait   = 30 * time.Second
	// shortest is how long a poll that brings nothing lasts: what is between may not wait.
	shortest  = 300 * time.Millisecond
	syncLimit = 20  // events of a room in an answer to /sync
	pageSize  = 100 // events of a page of a room's history
	// maxMissed bounds the pages that are read of what was missed in a room.
	maxMissed = 500
)

// The filters of /sync and of a room's history.
var (
	eventTypes    = []string{typeMessage, typeSticker, typeEncrypted, typeRedaction, typeMember}
	syncFilter    = filterOf(map[string]any{"types": eventTypes, "limit": syncLimit})
	presentFilter = filterOf(map[string]any{"types": []string{}, "limit": 1})
	historyFilter = encoded(map[string]any{"types": eventTypes})
)

func filterOf(timeline map[string]any) string {
	nothing := map[string]any{"not_types": []string{"*"}}
	return encoded(map[string]any{
		"presence": nothing, "account_data": nothing,
		"room": map[string]any{"state": nothing, "ephemeral": nothing, "account_data": nothing, "timeline": timeline},
	})
}

func encoded(filter map[string]any) string {
	text, _ := json.Marshal(filter) // it always can be
	return string(text)
}

// news is an answer to /sync.
type news struct {
	Next  string `json:"next_batch"`
	Rooms struct {
		Join   map[string]joined     `json:"join"`
		Invite map[string]invitation `json:"invite"`
	} `json:"rooms"`
}

// joined is what happened in a room that we are in.
type joined struct {
	Timeline struct {
		Events  []json.RawMessage `json:"events"`
		Limited bool              `json:"limited"` // there are more before
		Prev    string            `json:"prev_batch"`
	} `json:"timeline"`
}

// receiver receives for one account.
type receiver struct {
	*platform
	self     account
	in       chat.Inbox
	inviting *invitations
}

// Receive implements [chat.Platform].
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error {
	if err := in.Ready(ctx); err != nil {
		return err
	}
	self, err := p.whoAmI(ctx)
	if err != nil {
		return err
	}
	r := &receiver{platform: p, self: self, in: in, inviting: newInvitations(p, self, in)}
	defer r.inviting.running.Wait()
	var present news // of which only the invitations count, unless we never received before
	err = chat.Retry(ctx, p.o.Logger, "looking for invitations", func(ctx context.Context) (err error) {
		present, err = p.sync(ctx, "", presentFilter, 0)
		return err
	})
	if err != nil {
		return err
	}
	r.inviting.take(ctx, present)
	return in.Poll(ctx, cursorSync, func(ctx context.Context, since string) ([]chat.Delivery, string, error) {
		if since == "" {
			return nil, present.Next, nil
		}
		return r.poll(ctx, since)
	})
}

// sync makes one call, which the homeserver holds until there is news.
func (p *platform) sync(ctx context.Context, since, filter string, wait time.Duration) (answer news, err error) {
	query := url.Values{"filter": {filter}, "timeout": {strconv.FormatInt(wait.Milliseconds(), 10)}}
	if since != "" {
		query.Set("since", since)
	}
	err = p.call(ctx, request{name: "sync", path: "/_matrix/client/v3/sync", query: query, timeout: wait + callTimeout}, &answer)
	if err == nil && answer.Next == "" {
		err = &remote.Error{Service: Name, Err: errors.New("sync: the answer has no position")}
	}
	return answer, err
}

// poll returns what is new since a position.
func (r *receiver) poll(ctx context.Context, since string) (all []chat.Delivery, next string, err error) {
	began := time.Now()
	answer, err := r.sync(ctx, since, syncFilter, pollWait)
	if isUnknownPosition(err) {
		return r.startOver(ctx, err)
	}
	if err != nil {
		return nil, "", err
	}
	r.inviting.take(ctx, answer)
	for id, room := range answer.Rooms.Join {
		news, err := r.read(ctx, id, room, since)
		if err != nil {
			return nil, "", err
		}
		all = append(all, news...)
	}
	if answer.Next == since || len(answer.Rooms.Join) == 0 {
		chat.Sleep(ctx, shortest-time.Since(began))
	}
	return all, answer.Next, nil
}

// isUnknownPosition reports whether an error says that the homeserver does not know a
// position. The same codes with another status are about something else.
func isUnknownPosition(err error) bool {
	failed, code := remote.As(err), codeOf(err)
	return failed != nil && failed.Status == http.StatusBadRequest && (code == codeUnknown || code == codeInvalid)
}

// startOver continues at the present if the homeserver does not know the position any more,
// as after its database was replaced.
func (r *receiver) startOver(ctx context.Context, unknown error) ([]chat.Delivery, string, error) {
	present, err := r.sync(ctx, "", presentFilter, 0)
	if err != nil {
		return nil, "", err
	}
	r.o.Logger.Error("the homeserver does not know how far messages were read: those written since then are not answered", "err", unknown)
	return nil, present.Next, nil
}

// read returns what was written in a room, oldest first.
func (r *receiver) read(ctx context.Context, id string, news joined, since string) (all []chat.Delivery, err error) {
	events, err := r.unseen(ctx, id, news, since)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(events, (*event).joins) {
		info, err := r.rooms.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if info.direct { // perhaps no longer
			r.rooms.Forget(id)
		}
	}
	for _, e := range events {
		d, err := r.delivery(ctx, id, e)
		if err != nil {
			return nil, err
		}
		if d != nil {
			all = append(all, d)
		}
	}
	return all, nil
}

// unseen returns what happened in a room since a position or, if we came later, since we
// were invited.
func (r *receiver) unseen(ctx context.Context, id string, news joined, since string) ([]*event, error) {
	all := r.parse(id, news.Timeline.Events)
	from := news.Timeline.Prev
	if !news.Timeline.Limited {
		from = ""
	}
	for pages := 0; from != ""; pages++ {
		at, earlier := r.entry(all)
		if at > 0 && !earlier {
			break
		}
		if pages == maxMissed {
			r.o.Logger.Error("too much was written in a room meanwhile: the oldest messages are not answered", "room", id, "events", len(all))
			break
		}
		to := since
		if earlier {
			to = ""
		}
		page, next, err := r.page(ctx, id, from, to)
		if gone(err) {
			r.o.Logger.Warn("messages may have been missed: the room's history cannot be read", "room", id, "err", err)
			break
		}
		if err != nil {
			return nil, err
		}
		if next == from {
			next = ""
		}
		all, from = append(page, all...), next
	}
	at, _ := r.entry(all)
	return all[at:], nil
}

// entry returns how many events are before those that are meant for us: up to our last
// invitation, or until we joined. earlier reports that the invitation is not among them.
func (r *receiver) entry(all []*event) (at int, earlier bool) {
	for i, e := range slices.Backward(all) {
		if e.Type != typeMember || e.StateKey != r.self.ID {
			continue
		}
		switch now, before := e.Content.Membership, e.Unsigned.Before.Membership; {
		case now == "invite":
			return i + 1, false
		case now == "join" && before == "invite" && at == 0:
			at, earlier = i+1, true
		case now == "join" && before != "join" && before != "invite":
			return i + 1, false
		}
	}
	return at, earlier
}

// page returns events of a room's history before a position, oldest first, and the position
// of what is before them; empty if there is nothing.
func (p *platform) page(ctx context.Context, room, from, to string) (all []*event, next string, err error) {
	var answer struct {
		Events []json.RawMessage `json:"chunk"`
		End    string            `json:"end"`
	}
	query := url.Values{"dir": {"b"}, "limit": {strconv.Itoa(pageSize)}, "filter": {historyFilter}}
	for name, position := range map[string]string{"from": from, "to": to} {
		if position != "" {
			query.Set(name, position)
		}
	}
	err = p.call(ctx, request{name: "read the history", path: roomPath(room, "messages"), query: query}, &answer)
	all = p.parse(room, answer.Events)
	slices.Reverse(all)
	return all, answer.End, err
}
