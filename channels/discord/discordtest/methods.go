package discordtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, f := range map[string]func(*call) (any, error){
		"GET /gateway": func(c *call) (any, error) {
			return map[string]any{"url": "ws" + strings.TrimPrefix(c.URL(), "http") + "/gateway"}, nil
		},
		"GET /gateway/bot":                                                    (*call).gateway,
		"GET /users/@me":                                                      func(c *call) (any, error) { return c.users[Self], nil },
		"GET /applications/@me":                                               (*call).application,
		"GET /oauth2/applications/@me":                                        (*call).application,
		"GET /users/{user}":                                                   (*call).user,
		"POST /users/@me/channels":                                            (*call).openDirect,
		"GET /users/@me/guilds":                                               func(c *call) (any, error) { return []any{c.guildObject()}, nil },
		"GET /guilds/{guild}":                                                 func(c *call) (any, error) { return c.guildObject(), nil },
		"GET /guilds/{guild}/channels":                                        (*call).guildChannels,
		"GET /guilds/{guild}/roles":                                           func(c *call) (any, error) { return c.guildObject()["roles"], nil },
		"GET /guilds/{guild}/members/{user}":                                  (*call).guildMember,
		"GET /guilds/{guild}/members/search":                                  (*call).searchMembers,
		"GET /channels/{channel}":                                             func(c *call) (any, error) { return orError(c.channel("see")) },
		"GET /channels/{channel}/messages":                                    (*call).history,
		"POST /channels/{channel}/messages":                                   (*call).create,
		"GET /channels/{channel}/messages/{message}":                          (*call).one,
		"PATCH /channels/{channel}/messages/{message}":                        (*call).edit,
		"DELETE /channels/{channel}/messages/{message}":                       (*call).remove,
		"PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me":    (*call).react,
		"DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/@me": (*call).unreact,
		"POST /channels/{channel}/typing":                                     (*call).typing,
		"GET /channels/{channel}/threads/archived/public":                     (*call).archived,
		"POST /channels/{channel}/messages/{message}/threads":                 (*call).startThread,
		"GET /applications/{application}/commands":                            func(c *call) (any, error) { return orEmpty(c.commands), nil },
		"POST /applications/{application}/commands":                           (*call).register,
		"PUT /applications/{application}/commands":                            (*call).registerAll,
		"POST /interactions/{interaction}/{token}/callback":                   (*call).callback,
		"GET /webhooks/{application}/{token}/messages/@original":              (*call).original,
		"PATCH /webhooks/{application}/{token}/messages/@original":            (*call).editOriginal,
		"POST /webhooks/{application}/{token}":                                (*call).followUp,
	} {
		handle(mux, s, pattern, f)
	}
	mux.HandleFunc("GET /attachments/{id}/{version}/{name}", s.serveFile)
	mux.HandleFunc("GET /gateway", s.serveGateway)
	mux.HandleFunc("GET /gateway/{$}", s.serveGateway)
	mux.HandleFunc("GET /resume", s.serveGateway)
	mux.HandleFunc("GET /resume/{$}", s.serveGateway)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		answer(w, 404, map[string]any{"message": "404: Not Found", "code": 0})
	})
	return mux
}

func orError[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (c *call) gateway() (any, error) {
	return map[string]any{"url": "ws" + strings.TrimPrefix(c.URL(), "http") + "/gateway", "shards": 1, "session_start_limit": map[string]any{
		"total": 1000, "remaining": max(c.remaining, 0), "reset_after": c.reset.Milliseconds(), "max_concurrency": 1,
	}}, nil
}

func (c *call) application() (any, error) {
	return map[string]any{
		"id": Application, "name": "holdfast", "description": "", "flags": c.flags, "bot": c.users[Self], "bot_public": true, "bot_require_code_grant": false,
		"icon": nil, "verify_key": "", "team": nil, "summary": "",
	}, nil
}

func (c *call) user() (any, error) {
	u := c.users[c.r.PathValue("user")]
	if u == nil {
		return nil, errNoUser
	}
	return u, nil
}

func (c *call) guildMember() (any, error) {
	if c.users[c.r.PathValue("user")] == nil {
		return nil, refuse(404, 10007, "Unknown Member")
	}
	return c.member(c.r.PathValue("user")), nil
}

func (c *call) searchMembers() (any, error) {
	found := []any{}
	for _, u := range c.users {
		query := strings.ToLower(c.r.URL.Query().Get("query"))
		if strings.HasPrefix(strings.ToLower(u.Username), query) || strings.HasPrefix(strings.ToLower(u.GlobalName), query) {
			found = append(found, c.member(u.ID))
		}
	}
	return found, nil
}

func (c *call) openDirect() (any, error) {
	u := c.users[c.text("recipient_id")]
	switch {
	case u == nil:
		return nil, refuse(400, 50033, "Invalid Recipient(s)")
	case u.Bot:
		return nil, refuse(400, 50007, "Cannot send messages to this user")
	}
	return c.direct(u.ID), nil
}

func (c *call) guildChannels() (any, error) {
	all := []*Channel{}
	for _, id := range c.order {
		if channel := c.channels[id]; channel != nil && channel.Type != TypeDirect && channel.Type != TypeThread {
			all = append(all, channel)
		}
	}
	return all, nil
}

// history returns messages, newest first.
func (c *call) history() (any, error) {
	channel, err := c.channel("read")
	if err != nil {
		return nil, err
	}
	query := c.r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		limit = 50
	}
	if limit < 1 || limit > 100 {
		return nil, refuse(400, 50035, "Invalid Form Body: limit")
	}
	found := slices.DeleteFunc(slices.Clone(c.messages[channel.ID]), func(m *Message) bool {
		after, before := query.Get("after"), query.Get("before")
		return after != "" && number(m.ID) <= number(after) || before != "" && number(m.ID) >= number(before)
	})
	switch {
	case len(found) <= limit:
	case query.Get("after") != "":
		found = found[:limit]
	default:
		found = found[len(found)-limit:]
	}
	page := orEmpty(found)
	slices.Reverse(page)
	return page, nil
}

// create posts a message of the bot. A nonce that was just used returns the message that it
// was used for.
func (c *call) create() (any, error) {
	channel, err := c.channel("post")
	if err != nil {
		return nil, err
	}
	m := &Message{ChannelID: channel.ID, Author: c.users[Self], nonce: c.text("nonce")}
	if len(m.nonce) > 25 {
		return nil, refuse(400, 50035, "Invalid Form Body: nonce")
	}
	if channel.Type == TypeForum {
		return nil, refuse(400, 50008, "Cannot send messages in a non-text channel")
	}
	enforced := c.body["enforce_nonce"] == true && m.nonce != ""
	if known, used := c.nonces[channel.ID+m.nonce]; used && enforced && time.Now().Before(known.until) {
		return c.event(known.message), nil
	}
	if err := c.fill(m); err != nil {
		return nil, err
	}
	var reference Reference
	if c.into("message_reference", &reference) {
		m.Referenced = c.message(channel.ID, reference.MessageID)
		if m.Referenced == nil && (reference.MustExist == nil || *reference.MustExist) {
			return nil, refuse(400, 50035, "Invalid Form Body: message_reference: Unknown message")
		}
		if m.Referenced != nil {
			m.Type, m.Reference = 19, &Reference{MessageID: reference.MessageID, ChannelID: channel.ID, GuildID: channel.GuildID}
		}
	}
	for _, f := range c.files {
		c.attach(m, f.name, f.kind, f.content)
	}
	c.post(m)
	if enforced {
		c.nonces[channel.ID+m.nonce] = nonce{m, time.Now().Add(c.noncesLast)}
	}
	return c.event(m), nil
}

// fill takes the content of a message from the body.
func (c *call) fill(m *Message) error {
	if content, is := c.body["content"].(string); is {
		m.Content = strings.TrimSpace(content)
	}
	if len([]rune(m.Content)) > 2000 {
		return refuse(400, 50035, "Invalid Form Body: content: Must be 2000 or fewer in length.")
	}
	if c.body["components"] != nil {
		m.Components = nil
		if !c.into("components", &m.Components) || !validComponents(c.body["components"]) {
			return refuse(400, 50035, "Invalid Form Body: components")
		}
	}
	if m.Content == "" && len(c.files)+len(m.Attachments)+len(m.Components) == 0 && c.body["embeds"] == nil {
		return refuse(400, 50006, "Cannot send an empty message")
	}
	m.Mentions, m.MentionRoles, m.MentionEveryone = nil, nil, false
	var allowed struct {
		Parse   []string `json:"parse"`
		Users   []string `json:"users"`
		Replied bool     `json:"replied_user"`
	}
	c.mention(m)
	if c.into("allowed_mentions", &allowed) && len(allowed.Parse)+len(allowed.Users) == 0 {
		m.Mentions, m.MentionRoles, m.MentionEveryone = []*User{}, []string{}, false
	}
	m.Pinged = len(m.Mentions)+len(m.MentionRoles) > 0 || m.MentionEveryone || allowed.Replied
	return nil
}

func validComponents(rows any) bool {
	all, is := rows.([]any)
	for _, row := range all {
		r, _ := row.(map[string]any)
		buttons, _ := r["components"].([]any)
		if r["type"] != 1.0 || len(buttons) < 1 || len(buttons) > 5 {
			return false
		}
		for _, b := range buttons {
			id, _ := b.(map[string]any)["custom_id"].(string)
			label, _ := b.(map[string]any)["label"].(string)
			if len([]rune(id)) < 1 || len([]rune(id)) > 100 || len([]rune(label)) > 80 {
				return false
			}
		}
	}
	return is && len(all) <= 5
}

func (c *call) target(what string) (*Message, error) {
	channel, err := c.channel(what)
	if err != nil {
		return nil, err
	}
	if m := c.message(channel.ID, c.r.PathValue("message")); m != nil {
		return m, nil
	}
	return nil, errNoMessage
}

func (c *call) one() (any, error) { return orError(c.target("read")) }

func (c *call) edit() (any, error) {
	m, err := c.target("post")
	switch {
	case err != nil:
		return nil, err
	case m.Author.ID != Self:
		return nil, refuse(403, 50005, "Cannot edit a message authored by another user")
	}
	if err := c.fill(m); err != nil {
		return nil, err
	}
	m.Edits++
	at := time.Now().UTC().Format(time.RFC3339Nano)
	m.EditedTimestamp = &at
	c.dispatch("MESSAGE_UPDATE", intentMessages, c.event(m))
	return m, nil
}

func (c *call) remove() (any, error) {
	m, err := c.target("post")
	if err != nil {
		return nil, err
	}
	c.messages[m.ChannelID] = slices.DeleteFunc(c.messages[m.ChannelID], func(other *Message) bool { return other == m })
	c.dispatch("MESSAGE_DELETE", intentMessages, map[string]any{"id": m.ID, "channel_id": m.ChannelID})
	return nil, nil
}

func (c *call) react() (any, error) {
	m, err := c.target("react")
	if err != nil {
		return nil, err
	}
	if emoji := c.r.PathValue("emoji"); !slices.Contains(m.Reactions[emoji], Self) {
		m.Reactions[emoji] = append(m.Reactions[emoji], Self)
	}
	return nil, nil
}

func (c *call) unreact() (any, error) {
	m, err := c.target("react")
	if err == nil {
		delete(m.Reactions, c.r.PathValue("emoji"))
	}
	return nil, err
}

func (c *call) typing() (any, error) {
	_, err := c.channel("post")
	return nil, err
}

func (c *call) archived() (any, error) {
	parent, err := c.channel("read")
	if err != nil {
		return nil, err
	}
	found := []*Channel{}
	for _, id := range c.order {
		if t := c.channels[id]; t != nil && t.ParentID == parent.ID && t.Metadata != nil && t.Metadata.Archived {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *Channel) int { return b.Metadata.ArchiveTimestamp.Compare(a.Metadata.ArchiveTimestamp) })
	return map[string]any{"threads": found, "members": []any{}, "has_more": false}, nil
}

func (c *call) startThread() (any, error) {
	m, err := c.target("post")
	switch {
	case err != nil:
		return nil, err
	case c.channels[m.ID] != nil:
		return nil, refuse(400, 160004, "A thread has already been created for this message")
	}
	return c.openThread(Self, m.ChannelID, m.ID, c.text("name")), nil
}

// serveFile is the host of attachments, which takes no token.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, messages := range s.messages {
		for _, m := range messages {
			for _, a := range m.Attachments {
				if a.ID == r.PathValue("id") && strconv.Itoa(a.version) == r.PathValue("version") && r.Header.Get("Authorization") == "" {
					w.Header().Set("Content-Type", a.ContentType)
					_, _ = w.Write(a.Content)
					return
				}
			}
		}
	}
	http.Error(w, "This content is no longer available.", http.StatusNotFound)
}
