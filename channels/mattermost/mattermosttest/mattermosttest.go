// Package mattermosttest is a Mattermost server for tests, over real HTTP and websockets on
// loopback: a team with channels and people, and one bot. It loses, repeats and leaves out
// what the test says, refuses calls, and goes away.
package mattermosttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// Token is the bot's.
const Token = "xoxtokenofthebot123456789a"

// The people, the bot, the team and the channels.
const (
	BotID    = "botbotbotbotbotbotbotbotb1"
	BotName  = "holdfast"
	Ana      = "anaanaanaanaanaanaanaanaa1"
	Ben      = "benbenbenbenbenbenbenbenb1"
	Stranger = "strangerstrangerstranger11" // is in no team
	Guest    = "guestguestguestguestguest1" // of the team
	OtherBot = "otherbototherbototherbot11"
	Team     = "teamteamteamteamteamteamt1"
	General  = "generalgeneralgeneralgene1"
	Secret   = "secretsecretsecretsecrets1" // private
	Group    = "groupgroupgroupgroupgroup1" // Ana, Ben and the bot, without a name
	DM       = "directdirectdirectdirecta1" // Ana and the bot
	BensDM   = "directdirectdirectdirectb1"
)

// Mention mentions the bot.
const Mention = "@" + BotName

// The names of calls, for faults and counts.
const (
	CreatePost = "create post"
	EditPost   = "edit post"
	DeletePost = "delete post"
	GetPosts   = "get posts"
	GetThread  = "get thread"
	GetPost    = "get post"
	Channels   = "channels"
	Upload     = "upload"
	Download   = "download"
	Users      = "users"
	Member     = "team member"
	Me         = "me"
	Config     = "config"
	Typing     = "typing"
	Websocket  = "websocket"
)

// Post is a post as the server keeps it.
type Post struct {
	ID         string         `json:"id"`
	CreateAt   int64          `json:"create_at"`
	UpdateAt   int64          `json:"update_at"`
	EditAt     int64          `json:"edit_at"`
	DeleteAt   int64          `json:"delete_at"`
	UserID     string         `json:"user_id"`
	ChannelID  string         `json:"channel_id"`
	RootID     string         `json:"root_id"`
	OriginalID string         `json:"original_id"`
	Message    string         `json:"message"`
	Type       string         `json:"type"`
	Props      map[string]any `json:"props"`
	PendingID  string         `json:"pending_post_id,omitempty"`
	FileIDs    []string       `json:"file_ids,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}

// File is a file as the server keeps it.
type File struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	MIME    string `json:"mime_type"`
	Size    int    `json:"size"`
	Content []byte `json:"-"`
}

type channel struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	TeamID      string `json:"team_id"`
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	LastPostAt  int64  `json:"last_post_at"`
	DeleteAt    int64  `json:"delete_at"`
	members     []string
}

// Server is the Mattermost server. Safe for concurrent use.
type Server struct {
	*faulty.Server

	mu          sync.Mutex
	clock       int64
	behind      time.Duration // of the clock
	posts       []*Post       // in the order in which they were made
	pending     map[string]string
	channels    []*channel
	users       map[string]map[string]any
	files       map[string]*File
	sessions    map[string]*session
	opened      int // sessions that were begun
	resumed     int
	typed       []string // where the bot was typing
	maxPostSize int
	skip        int // events that will be left out
	callback    string
	sockets     sync.WaitGroup
}

// Start runs a server until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{pending: map[string]string{}, files: map[string]*File{}, sessions: map[string]*session{}, maxPostSize: 16383}
	person := func(id, name, nickname string, bot bool) map[string]any {
		return map[string]any{"id": id, "username": name, "nickname": nickname, "is_bot": bot, "timezone": map[string]string{"useAutomaticTimezone": "true", "automaticTimezone": "Europe/Berlin"}}
	}
	s.users = map[string]map[string]any{
		BotID: person(BotID, BotName, "", true), Ana: person(Ana, "ana", "Ana Lopez", false), Ben: person(Ben, "ben", "", false),
		Stranger: person(Stranger, "stranger", "", false), Guest: person(Guest, "guest", "", false), OtherBot: person(OtherBot, "alerts", "", true),
	}
	s.channels = []*channel{
		{ID: General, Type: "O", TeamID: Team, Name: "general", DisplayName: "General", members: []string{BotID, Ana, Ben, Guest, Stranger, OtherBot}},
		{ID: Secret, Type: "P", TeamID: Team, Name: "secret", DisplayName: "Secret", members: []string{BotID, Ben}},
		{ID: Group, Type: "G", Name: "groupname", DisplayName: "ana, ben, holdfast", members: []string{BotID, Ana, Ben}},
		{ID: DM, Type: "D", Name: BotID + "__" + Ana, members: []string{BotID, Ana}},
		{ID: BensDM, Type: "D", Name: BotID + "__" + Ben, members: []string{BotID, Ben}},
	}
	s.Server = faulty.Start(t, s.routes(), name)
	t.Cleanup(func() {
		s.Restart()
		s.sockets.Wait()
	})
	return s
}

// name names a call.
func name(r *http.Request) string {
	path := strings.TrimPrefix(r.URL.Path, "/api/v4")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	at := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	switch {
	case at(0) == "posts" && at(2) == "thread":
		return GetThread
	case at(0) == "posts":
		return map[string]string{http.MethodPost: CreatePost, http.MethodPut: EditPost, http.MethodDelete: DeletePost, http.MethodGet: GetPost}[r.Method]
	case at(0) == "channels" && at(2) == "posts":
		return GetPosts
	case at(0) == "users" && at(2) == "channels":
		return Channels
	case at(0) == "users" && at(2) == "typing":
		return Typing
	case at(0) == "users" && at(1) == "me" && at(2) == "":
		return Me
	case at(0) == "users" && at(1) == "ids":
		return Users
	case at(0) == "teams" && at(2) == "members":
		return Member
	case at(0) == "files" && r.Method == http.MethodPost:
		return Upload
	case at(0) == "files":
		return Download
	case at(0) == "config":
		return Config
	}
	return cmp.Or(at(0), path)
}

// newID returns an ID as Mattermost has them. They are in no order.
func newID() string {
	const letters = "ybndrfg8ejkmcpqxot1uwisza345h769"
	id := make([]byte, 26)
	for i := range id {
		id[i] = letters[random(len(letters))]
	}
	return string(id)
}

// now returns the server's time, in milliseconds. It never returns the same twice. The mutex
// is held.
func (s *Server) now() int64 {
	s.clock = max(s.clock+1, time.Now().Add(-s.behind).UnixMilli())
	return s.clock
}

// SetBack sets the server's clock back.
func (s *Server) SetBack(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock, s.behind = 0, by
}

// A SayOption changes what is said.
type SayOption func(*Post)

// In writes in a thread.
func In(root string) SayOption { return func(p *Post) { p.RootID = root } }

// With changes a post.
func With(change func(*Post)) SayOption { return SayOption(change) }

// At has the server date a post otherwise.
func At(t time.Time) SayOption {
	return func(p *Post) { p.CreateAt, p.UpdateAt = t.UnixMilli(), t.UnixMilli() }
}

// Attached attaches a file.
func (s *Server) Attached(name, mime string, content []byte) SayOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.store(name, mime, content)
	return func(p *Post) { p.FileIDs = append(p.FileIDs, f.ID) }
}

// store keeps a file. The mutex is held.
func (s *Server) store(name, mime string, content []byte) *File {
	f := &File{ID: newID(), Name: name, MIME: mime, Size: len(content), Content: content}
	s.files[f.ID] = f
	return f
}

// Say has a person write.
func (s *Server) Say(who, where, text string, options ...SayOption) Post {
	s.mu.Lock()
	now := s.now()
	p := &Post{ID: newID(), CreateAt: now, UpdateAt: now, UserID: who, ChannelID: where, Message: text, Props: map[string]any{}}
	for _, o := range options {
		o(p)
	}
	said := s.add(p)
	s.mu.Unlock()
	s.Changed()
	return said
}

// add keeps a post and announces it. The mutex is held.
func (s *Server) add(p *Post) Post {
	s.describe(p)
	if user := s.users[p.UserID]; user["is_bot"] == true {
		p.Props = maps.Clone(p.Props)
		p.Props["from_bot"] = "true"
	}
	s.posts = append(s.posts, p)
	c := s.channel(p.ChannelID)
	c.LastPostAt = max(c.LastPostAt, p.CreateAt)
	if root := s.post(p.RootID); root != nil {
		root.UpdateAt = max(root.UpdateAt, p.CreateAt)
	}
	s.announce(p, "posted")
	return *p
}

// describe adds what a post's files are.
func (s *Server) describe(p *Post) {
	var files []File
	for _, id := range p.FileIDs {
		if f := s.files[id]; f != nil {
			files = append(files, *f)
		}
	}
	if files != nil && p.Metadata == nil {
		p.Metadata = map[string]any{"files": files}
	}
}

// announce sends an event about a post. The mutex is held.
func (s *Server) announce(p *Post, event string) {
	encoded, err := json.Marshal(visible(p))
	if err != nil {
		panic(err)
	}
	data := map[string]any{"post": string(encoded)}
	if event == "posted" {
		data["channel_type"] = s.channel(p.ChannelID).Type
		data["sender_name"] = "@" + fmt.Sprint(s.users[p.UserID]["username"])
	}
	s.send(event, data, p.ChannelID)
}

// Redeliver announces a post again.
func (s *Server) Redeliver(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announce(s.post(id), "posted")
}

// Edit has the author edit a post. What it said before is kept as a deleted post.
func (s *Server) Edit(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edit(s.post(id), text)
}

// edit changes a post. The mutex is held.
func (s *Server) edit(p *Post, text string) {
	now := s.now()
	if p.Message != text {
		before := *p
		before.ID, before.OriginalID, before.DeleteAt, before.UpdateAt = newID(), p.ID, now, now
		s.posts = append(s.posts, &before)
		p.EditAt = now
	}
	p.Message, p.UpdateAt = text, now
	s.announce(p, "post_edited")
}

// Touch changes something about a post other than its text.
func (s *Server) Touch(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edit(s.post(id), s.post(id).Message)
}

// DirectWith returns the chat of a person and the bot.
func (s *Server) DirectWith(who string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.direct(who).ID
}

// direct returns the chat of a person and the bot, and makes it if there is none. The mutex is
// held.
func (s *Server) direct(who string) *channel {
	i := slices.IndexFunc(s.channels, func(c *channel) bool { return c.Type == "D" && slices.Contains(c.members, who) })
	if i < 0 {
		i = len(s.channels)
		s.channels = append(s.channels, &channel{ID: newID(), Type: "D", Name: BotID + "__" + who, members: []string{BotID, who}})
	}
	return s.channels[i]
}

// Remove deletes a post.
func (s *Server) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(s.post(id))
}

func (s *Server) remove(p *Post) {
	p.DeleteAt = s.now()
	p.UpdateAt = p.DeleteAt
	s.announce(p, "post_deleted")
}

// Archive archives a channel, in which nobody can write then.
func (s *Server) Archive(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channel(id).DeleteAt = s.now()
}

// Leave removes the bot from a channel.
func (s *Server) Leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(id)
	c.members = slices.DeleteFunc(c.members, func(member string) bool { return member == BotID })
}

// Ours returns the bot's posts in a channel that are not deleted, oldest first.
func (s *Server) Ours(channel string) (ours []Post) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.posts {
		if p.UserID == BotID && p.ChannelID == channel && p.DeleteAt == 0 {
			ours = append(ours, *p)
		}
	}
	return ours
}

// Posts returns all posts of a channel that are not deleted.
func (s *Server) Posts(channel string) (all []Post) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.posts {
		if p.ChannelID == channel && p.DeleteAt == 0 {
			all = append(all, *p)
		}
	}
	return all
}

// File returns a stored file.
func (s *Server) File(id string) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.files[id]
}

// Forget makes the server forget the keys of posts, as after half a minute.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.pending)
}

// LimitPosts sets how many characters a post may have.
func (s *Server) LimitPosts(runes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxPostSize = runes
}

// Typed returns in which channels the bot was typing.
func (s *Server) Typed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.typed)
}

// post returns a post by ID; nil if there is none. The mutex is held.
func (s *Server) post(id string) *Post {
	i := slices.IndexFunc(s.posts, func(p *Post) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return s.posts[i]
}

// channel returns a channel by ID; nil if there is none. The mutex is held.
func (s *Server) channel(id string) *channel {
	i := slices.IndexFunc(s.channels, func(c *channel) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return s.channels[i]
}

// visible returns a post as clients see it: without what buttons are for.
func visible(p *Post) Post {
	shown := *p
	attachments, has := p.Props["attachments"].([]any)
	if !has {
		return shown
	}
	shown.Props = maps.Clone(p.Props)
	var all []any
	for _, a := range attachments {
		fields, _ := a.(map[string]any)
		fields = maps.Clone(fields)
		actions, _ := fields["actions"].([]any)
		var buttons []any
		for _, action := range actions {
			button, _ := action.(map[string]any)
			button = maps.Clone(button)
			delete(button, "integration")
			buttons = append(buttons, button)
		}
		fields["actions"] = buttons
		all = append(all, fields)
	}
	shown.Props["attachments"] = all
	return shown
}

// Buttons returns the IDs of a post's buttons.
func (p Post) Buttons() (ids []string) {
	for id := range p.actions() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// actions returns what a post's buttons are for, by their IDs.
func (p Post) actions() map[string]map[string]any {
	all := map[string]map[string]any{}
	attachments, _ := p.Props["attachments"].([]any)
	for _, a := range attachments {
		fields, _ := a.(map[string]any)
		actions, _ := fields["actions"].([]any)
		for _, action := range actions {
			button, _ := action.(map[string]any)
			integration, _ := button["integration"].(map[string]any)
			id, _ := button["id"].(string)
			all[id] = integration
		}
	}
	return all
}

// SendClicksTo has clicks be sent to another address than the buttons have.
func (s *Server) SendClicksTo(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callback = address
}

// Click has a person click a button, and returns the status with which we were answered, or
// how that failed.
func (s *Server) Click(who, post, button string) (int, error) {
	s.mu.Lock()
	p := s.post(post)
	integration := p.actions()[button]
	s.mu.Unlock()
	body, err := json.Marshal(map[string]any{
		"user_id": who, "user_name": s.users[who]["username"], "channel_id": p.ChannelID, "post_id": p.ID, "trigger_id": newID(),
		"type": "button", "context": integration["context"],
	})
	if err != nil {
		return 0, err
	}
	target, _ := integration["url"].(string)
	target = cmp.Or(s.callback, target)
	response, err := http.Post(target, "application/json", strings.NewReader(string(body))) //nolint:noctx // the test's own
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var answer struct{}
	if err := json.NewDecoder(response.Body).Decode(&answer); response.StatusCode == http.StatusOK && err != nil {
		return 0, fmt.Errorf("the server wants an object: %w", err)
	}
	return response.StatusCode, nil
}
