package mattermosttest

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func random(n int) int { return rand.IntN(n) }

// sinceLimit is how many posts are returned of those since a time.
const sinceLimit = 1000

// problem is the answer to a call that fails.
type problem struct {
	ID      string `json:"id"`
	Message string `json:"message"`
	Status  int    `json:"status_code"`
}

func refused(id string, status int) *problem { return &problem{id, "refused: " + id, status} }

// The ways in which calls fail.
var (
	noSession    = refused("api.context.session_expired.app_error", http.StatusUnauthorized)
	noPermission = refused("api.context.permissions.app_error", http.StatusForbidden)
	notFound     = refused("app.post.get.app_error", http.StatusNotFound)
	badParameter = refused("api.context.invalid_body_param.app_error", http.StatusBadRequest)
)

// call is a call of the bot.
type call struct {
	*Server
	r    *http.Request
	body []byte
}

func (c call) path(name string) string  { return c.r.PathValue(name) }
func (c call) query(name string) string { return c.r.URL.Query().Get(name) }

func (c call) number(name string, otherwise int64) int64 {
	n, err := strconv.ParseInt(c.query(name), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, answer func(call) (any, *problem)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v4"+path, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, answer) })
	}
	handle("GET /users/me", func(c call) (any, *problem) { return c.users[BotID], nil })
	handle("GET /users/me/teams", func(call) (any, *problem) { return []any{map[string]any{"id": Team, "display_name": "Team"}}, nil })
	handle("GET /users/me/channels", call.myChannels)
	handle("POST /users/me/typing", call.typing)
	handle("POST /users/ids", call.usersByIDs)
	handle("GET /users/username/{name}", call.userByName)
	handle("GET /teams/{team}/members/{user}", call.teamMember)
	handle("GET /channels/{channel}", call.getChannel)
	handle("GET /channels/{channel}/members/{user}", call.channelMember)
	handle("GET /channels/{channel}/posts", call.channelPosts)
	handle("POST /channels/direct", call.openDirect)
	handle("POST /posts", call.createPost)
	handle("GET /posts/{post}", call.getPost)
	handle("GET /posts/{post}/thread", call.getThread)
	handle("PUT /posts/{post}/patch", call.patchPost)
	handle("DELETE /posts/{post}", call.deletePost)
	handle("POST /files", call.upload)
	handle("GET /files/{file}/info", call.fileInfo)
	handle("GET /config/client", func(c call) (any, *problem) {
		return map[string]string{"MaxPostSize": strconv.Itoa(c.maxPostSize), "Version": "11.0.0"}, nil
	})
	mux.HandleFunc("GET /api/v4/files/{file}", s.download)
	mux.HandleFunc("GET /api/v4/websocket", s.connect)
	return mux
}

func authorized(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "bearer") && token == Token
}

// answer answers a call. Calls are carried out one by one.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, do func(call) (any, *problem)) {
	body, err := io.ReadAll(r.Body)
	var answer any
	failed := noSession
	if authorized(r) && err == nil {
		s.mu.Lock()
		answer, failed = do(call{s, r, body})
		s.mu.Unlock()
	}
	s.Changed()
	w.Header().Set("Content-Type", "application/json")
	if failed != nil {
		w.WriteHeader(failed.Status)
		answer = failed
	} else if r.Method == http.MethodPost && r.URL.Path == "/api/v4/posts" {
		w.WriteHeader(http.StatusCreated)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (c call) myChannels() (any, *problem) {
	ours := []channel{}
	for _, known := range c.channels {
		if slices.Contains(known.members, BotID) && known.DeleteAt == 0 {
			ours = append(ours, *known)
		}
	}
	return ours, nil
}

func (c call) typing() (any, *problem) {
	var in struct {
		ChannelID string `json:"channel_id"`
	}
	if json.Unmarshal(c.body, &in) != nil || c.channel(in.ChannelID) == nil {
		return nil, badParameter
	}
	c.typed = append(c.typed, in.ChannelID)
	return map[string]string{"status": "OK"}, nil
}

func (c call) usersByIDs() (any, *problem) {
	var ids []string
	if json.Unmarshal(c.body, &ids) != nil || len(ids) == 0 {
		return nil, badParameter
	}
	found := []any{}
	for _, id := range ids {
		if u := c.users[id]; u != nil {
			found = append(found, u)
		}
	}
	return found, nil
}

func (c call) userByName() (any, *problem) {
	for _, u := range c.users {
		if u["username"] == c.path("name") {
			return u, nil
		}
	}
	return nil, refused("app.user.get_by_username.app_error", http.StatusNotFound)
}

func (c call) teamMember() (any, *problem) {
	if c.path("team") != Team || c.path("user") == Stranger || c.users[c.path("user")] == nil {
		return nil, refused("app.team.get_member.missing.app_error", http.StatusNotFound)
	}
	return map[string]any{"user_id": c.path("user"), "team_id": Team, "delete_at": 0, "scheme_guest": c.path("user") == Guest}, nil
}

// readable returns a channel that the bot is in.
func (c call) readable(id string) (*channel, *problem) {
	in := c.channel(id)
	if in == nil {
		return nil, refused("app.channel.get.existing.app_error", http.StatusNotFound)
	}
	if !slices.Contains(in.members, BotID) {
		return nil, noPermission
	}
	return in, nil
}

func (c call) getChannel() (any, *problem) {
	in, failed := c.readable(c.path("channel"))
	return in, failed
}

func (c call) channelMember() (any, *problem) {
	in, failed := c.readable(c.path("channel"))
	if failed == nil && !slices.Contains(in.members, c.path("user")) {
		failed = refused("app.channel.get_member.missing.app_error", http.StatusNotFound)
	}
	return map[string]string{"user_id": c.path("user")}, failed
}

func (c call) openDirect() (any, *problem) {
	var ids []string
	if json.Unmarshal(c.body, &ids) != nil || len(ids) != 2 || c.users[ids[1]] == nil {
		return nil, badParameter
	}
	return c.direct(ids[1]), nil
}

// listed returns posts as a list, in this order, with the first posts of their threads.
func (c call) listed(posts []*Post, hasNext bool) map[string]any {
	order, all := []string{}, map[string]Post{}
	for _, p := range posts {
		order = append(order, p.ID)
		all[p.ID] = visible(p)
		if root := c.post(p.RootID); root != nil {
			all[root.ID] = visible(root)
		}
	}
	return map[string]any{"order": order, "posts": all, "next_post_id": "", "prev_post_id": "", "has_next": hasNext}
}

// channelPosts returns posts of a channel: those since a time, also if they are deleted; or
// the newest; or those before one.
func (c call) channelPosts() (any, *problem) {
	in, failed := c.readable(c.path("channel"))
	if failed != nil {
		return nil, failed
	}
	since, perPage := c.number("since", 0), int(c.number("per_page", 60))
	var found []*Post
	for _, p := range c.posts {
		if p.ChannelID == in.ID && (since > 0 && p.UpdateAt > since || since == 0 && p.DeleteAt == 0) {
			found = append(found, p)
		}
	}
	if since > 0 && len(found) > sinceLimit { // in no order
		slices.SortFunc(found, func(a, b *Post) int { return strings.Compare(a.ID, b.ID) })
		found = found[:sinceLimit]
	}
	slices.SortStableFunc(found, func(a, b *Post) int { return int(b.CreateAt - a.CreateAt) })
	if since > 0 {
		return c.listed(found, false), nil
	}
	if before := c.post(c.query("before")); before != nil {
		found = slices.DeleteFunc(found, func(p *Post) bool { return p.CreateAt >= before.CreateAt })
	}
	offset := min(int(c.number("page", 0))*perPage, len(found))
	return c.listed(found[offset:min(offset+perPage, len(found))], false), nil
}

func (c call) getPost() (any, *problem) {
	p := c.post(c.path("post"))
	if p == nil || p.DeleteAt > 0 {
		return nil, notFound
	}
	_, failed := c.readable(p.ChannelID)
	return visible(p), failed
}

// getThread returns a thread's first post and the others after a time, and a post.
func (c call) getThread() (any, *problem) {
	root := c.post(c.path("post"))
	if root == nil || root.DeleteAt > 0 {
		return nil, notFound
	}
	from, id, perPage := c.number("fromCreateAt", 0), c.query("fromPost"), int(c.number("perPage", 0))
	replies := []*Post{}
	for _, p := range c.posts {
		if p.RootID == root.ID && p.DeleteAt == 0 && (p.CreateAt > from || id != "" && p.CreateAt == from && p.ID > id) {
			replies = append(replies, p)
		}
	}
	slices.SortFunc(replies, func(a, b *Post) int { return int(a.CreateAt - b.CreateAt) })
	hasNext := perPage > 0 && len(replies) > perPage
	if hasNext {
		replies = replies[:perPage]
	}
	return c.listed(append([]*Post{root}, replies...), hasNext), nil
}

func (c call) createPost() (any, *problem) {
	var p Post
	if json.Unmarshal(c.body, &p) != nil {
		return nil, badParameter
	}
	in := c.channel(p.ChannelID)
	switch {
	case in == nil, !slices.Contains(in.members, BotID):
		return nil, noPermission
	case in.DeleteAt > 0:
		return nil, refused("api.post.create_post.can_not_post_to_deleted.error", http.StatusBadRequest)
	case utf8.RuneCountInString(p.Message) > c.maxPostSize:
		return nil, refused("model.post.is_valid.message_length.app_error", http.StatusBadRequest)
	}
	if known := c.post(c.pending[p.PendingID]); p.PendingID != "" && known != nil {
		return visible(known), nil
	}
	if root := c.post(p.RootID); p.RootID != "" && (root == nil || root.DeleteAt > 0 || root.RootID != "" || root.ChannelID != p.ChannelID) {
		return nil, refused("api.post.create_post.root_id.app_error", http.StatusBadRequest)
	}
	for _, id := range p.FileIDs {
		if c.files[id] == nil {
			return nil, badParameter
		}
	}
	now := c.now()
	p.ID, p.UserID, p.CreateAt, p.UpdateAt = newID(), BotID, now, now
	if p.Props == nil {
		p.Props = map[string]any{}
	}
	made := c.add(&p)
	if p.PendingID != "" {
		c.pending[p.PendingID] = p.ID
	}
	return visible(&made), nil
}

// ownPost returns a post of the bot's that is not deleted.
func (c call) ownPost() (*Post, *problem) {
	p := c.post(c.path("post"))
	if p == nil || p.DeleteAt > 0 || p.UserID != BotID || p.OriginalID != "" {
		return nil, noPermission // the server does not say what is missing
	}
	return p, nil
}

func (c call) patchPost() (any, *problem) {
	var patch struct {
		Message *string         `json:"message"`
		Props   *map[string]any `json:"props"`
	}
	p, failed := c.ownPost()
	switch {
	case failed != nil:
		return nil, failed
	case json.Unmarshal(c.body, &patch) != nil:
		return nil, badParameter
	case patch.Message != nil && utf8.RuneCountInString(*patch.Message) > c.maxPostSize:
		return nil, refused("model.post.is_valid.message_length.app_error", http.StatusBadRequest)
	}
	text := p.Message
	if patch.Message != nil {
		text = *patch.Message
	}
	if patch.Props != nil {
		p.Props = *patch.Props
		p.Props["from_bot"] = "true"
	}
	c.edit(p, text)
	return visible(p), nil
}

func (c call) deletePost() (any, *problem) {
	p, failed := c.ownPost()
	if failed == nil {
		c.remove(p)
	}
	return map[string]string{"status": "OK"}, failed
}

func (c call) upload() (any, *problem) {
	channel, name, content := c.query("channel_id"), c.query("filename"), c.body
	if strings.HasPrefix(c.r.Header.Get("Content-Type"), "multipart/") {
		channel, name, content = c.form()
	}
	if _, failed := c.readable(channel); failed != nil {
		return nil, failed
	}
	if name == "" {
		return nil, badParameter
	}
	f := c.store(name, http.DetectContentType(content), content)
	return map[string]any{"file_infos": []*File{f}, "client_ids": []string{}}, nil
}

// form returns what a browser uploads.
func (c call) form() (channel, name string, content []byte) {
	r := c.r.Clone(c.r.Context())
	r.Body = io.NopCloser(bytes.NewReader(c.body))
	if r.ParseMultipartForm(1<<20) != nil || len(r.MultipartForm.File["files"]) == 0 {
		return "", "", nil
	}
	header := r.MultipartForm.File["files"][0]
	if f, err := header.Open(); err == nil {
		content, _ = io.ReadAll(f) // it is in memory
		_ = f.Close()
	}
	return r.FormValue("channel_id"), header.Filename, content
}

func (c call) fileInfo() (any, *problem) {
	f := c.files[c.path("file")]
	if f == nil {
		return nil, refused("app.file_info.get.app_error", http.StatusNotFound)
	}
	return f, nil
}

// download serves a file.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := s.files[r.PathValue("file")]
	s.mu.Unlock()
	if f == nil || !authorized(r) {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(refused("app.file_info.get.app_error", http.StatusNotFound))
		return
	}
	w.Header().Set("Content-Type", f.MIME)
	_, _ = w.Write(f.Content)
}
