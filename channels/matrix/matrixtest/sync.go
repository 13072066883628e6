package matrixtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxHold bounds how long a call of /sync is held.
	maxHold = 30 * time.Second
	// defaultLimit is how many events of a room an answer has at most.
	defaultLimit = 10
)

// token is a position between two events.
func token(position int) string { return "s" + strconv.Itoa(position) + "_0" }

// positionOf reads a token.
func positionOf(token string) (int, bool) {
	digits, _, _ := strings.Cut(strings.TrimPrefix(token, "s"), "_")
	n, err := strconv.Atoi(digits)
	return n, err == nil && strings.HasPrefix(token, "s")
}

// filter is the part of a filter that is followed.
type filter struct {
	Types    []string `json:"types"`
	NotTypes []string `json:"not_types"`
	Limit    int      `json:"limit"`
	none     bool     // types is there and empty
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *filter) UnmarshalJSON(data []byte) error {
	type plain filter
	err := json.Unmarshal(data, (*plain)(f))
	f.none = f.Types != nil && len(f.Types) == 0
	return err
}

func (f *filter) takes(e *Happened) bool {
	return !f.none && (len(f.Types) == 0 || slices.Contains(f.Types, e.Type)) && !slices.Contains(f.NotTypes, "*")
}

type filters struct {
	Room struct {
		Timeline  filter `json:"timeline"`
		State     filter `json:"state"`
		Ephemeral filter `json:"ephemeral"`
	} `json:"room"`
}

func (s *Server) addFilter(c call) {
	var data json.RawMessage
	if !c.read(&data) {
		return
	}
	defer s.act()()
	id := s.mint()[:8]
	s.filters[id] = data
	c.answer(map[string]any{"filter_id": id})
}

// sync holds a call until there is news.
func (s *Server) sync(c call) {
	query := c.URL.Query()
	var f filters
	asked := []byte(query.Get("filter"))
	s.mu.Lock()
	if stored, known := s.filters[string(asked)]; known {
		asked = stored
	}
	since, valid := positionOf(query.Get("since"))
	valid = valid && !s.lost[query.Get("since")]
	s.syncs[c.user] = query.Get("since")
	delete(s.held, c.user)
	s.mu.Unlock()
	s.Changed()
	if len(asked) > 0 && json.Unmarshal(asked, &f) != nil || !valid && query.Get("since") != "" {
		c.refuse(http.StatusBadRequest, "M_UNKNOWN", "Invalid stream token")
		return
	}
	wait, _ := strconv.Atoi(query.Get("timeout"))
	deadline := time.After(min(time.Duration(wait)*time.Millisecond, maxHold))
	for {
		changed := s.Change()
		s.mu.Lock()
		answer, some := s.news(c.user, since, query.Get("since") == "", f)
		wakes := s.hold(c.user, !some)
		revoked := s.tokens[c.token] == ""
		s.mu.Unlock()
		if revoked {
			c.refuse(http.StatusUnauthorized, "M_UNKNOWN_TOKEN", "Invalid access token passed.")
			return
		}
		if wakes {
			s.Changed()
		}
		if some || query.Get("since") == "" {
			c.answer(answer)
			return
		}
		select {
		case <-changed:
		case <-deadline:
			c.answer(answer)
			return
		case <-c.Context().Done():
			return
		}
	}
}

// hold records up to where there was no news for a user, and reports whether that is new.
// The lock is held.
func (s *Server) hold(user string, holds bool) bool {
	at, held := s.held[user]
	if !holds {
		delete(s.held, user)
		return false
	}
	s.held[user] = s.position
	return !held || at != s.position
}

// news returns what is new for a user. The lock is held.
func (s *Server) news(user string, since int, initial bool, f filters) (answer map[string]any, some bool) {
	joined, invited := map[string]any{}, map[string]any{}
	for id, in := range s.rooms {
		mine := in.state("m.room.member", &user)
		if mine == nil {
			continue
		}
		switch {
		case mine.Content["membership"] == "invite" && (initial || mine.Position > since):
			invited[id] = map[string]any{"invite_state": map[string]any{"events": in.stripped(mine)}}
		case mine.Content["membership"] == "join":
			entered := initial || in.entered(user) > since // then the whole room is new
			after := since
			if entered {
				after = 0
			}
			if part, some := in.timeline(after, f, entered); some {
				joined[id] = part
			}
		}
	}
	return map[string]any{"next_batch": token(s.position), "rooms": map[string]any{"join": joined, "invite": invited}}, len(joined)+len(invited) > 0
}

// entered returns the position at which a user joined.
func (r *room) entered(user string) (position int) {
	for _, e := range r.events {
		before, _ := e.Unsigned["prev_content"].(map[string]any)
		if e.Type == "m.room.member" && *e.StateKey == user && e.Content["membership"] == "join" && before["membership"] != "join" {
			position = e.Position
		}
	}
	return position
}

// timeline returns the newest events of a room after a position.
func (r *room) timeline(after int, f filters, whole bool) (part map[string]any, some bool) {
	var events, state []*Happened
	for _, e := range r.events {
		if e.Position > after && f.Room.Timeline.takes(e) {
			events = append(events, e)
		}
	}
	limit := f.Room.Timeline.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	limited, prev := len(events) > limit, token(after)
	if limited {
		events = events[len(events)-limit:]
		prev = token(events[0].Position - 1)
	}
	if whole {
		for _, e := range r.events {
			if e.StateKey != nil && r.state(e.Type, e.StateKey) == e && !slices.Contains(events, e) && f.Room.State.takes(e) {
				state = append(state, e)
			}
		}
	}
	typing := []map[string]any{}
	if r.typedAt > after && f.Room.Ephemeral.takes(&Happened{Type: "m.typing"}) {
		typing = append(typing, map[string]any{"type": "m.typing", "content": map[string]any{"user_ids": append([]string{}, r.typing...)}})
	}
	return map[string]any{
		"ephemeral": map[string]any{"events": typing},
		"timeline":  map[string]any{"events": listed(events), "limited": limited, "prev_batch": prev},
		"state":     map[string]any{"events": listed(state)},
	}, len(events)+len(typing) > 0 || whole
}

// stripped is what somebody who is invited knows of a room.
func (r *room) stripped(invitation *Happened) (all []map[string]any) {
	nobody := ""
	for _, e := range []*Happened{r.state("m.room.create", &nobody), r.state("m.room.join_rules", &nobody), r.state("m.room.encryption", &nobody), invitation} {
		if e != nil {
			all = append(all, map[string]any{"type": e.Type, "sender": e.Sender, "state_key": *e.StateKey, "content": e.Content})
		}
	}
	return all
}

// messages returns a page of a room's history.
func (s *Server) messages(c call, in *room) {
	query := c.URL.Query()
	var f filter
	if text := query.Get("filter"); text != "" && json.Unmarshal([]byte(text), &f) != nil {
		c.refuse(http.StatusBadRequest, "M_BAD_JSON", "Invalid filter")
		return
	}
	limit, _ := strconv.Atoi(query.Get("limit"))
	if limit == 0 {
		limit = defaultLimit
	}
	limit = min(limit, 1000)
	from, hasFrom := positionOf(query.Get("from"))
	to, hasTo := positionOf(query.Get("to"))
	forward := query.Get("dir") == "f"
	if !hasFrom && query.Get("from") != "" || !hasTo && query.Get("to") != "" {
		c.refuse(http.StatusBadRequest, "M_INVALID_PARAM", "Invalid token")
		return
	}
	if !hasFrom && !forward {
		from = s.position
	}
	if !hasTo && forward {
		to = s.position
	}
	var chunk []*Happened
	for _, e := range in.events {
		within := e.Position <= from && e.Position > to
		if forward {
			within = e.Position > from && e.Position <= to
		}
		if within && f.takes(e) {
			chunk = append(chunk, e)
		}
	}
	if !forward {
		slices.Reverse(chunk)
	}
	answer := map[string]any{"start": token(from)}
	if len(chunk) > limit {
		chunk = chunk[:limit]
		end := chunk[limit-1].Position
		if !forward {
			end--
		}
		answer["end"] = token(end)
	}
	answer["chunk"] = listed(chunk)
	c.answer(answer)
}

// listed is a list that is not null.
func listed(events []*Happened) []*Happened {
	return append([]*Happened{}, events...)
}
