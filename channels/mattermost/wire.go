package mattermost

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// user is an account.
type user struct {
	ID        string `json:"id"`
	Username  string `json:"username"`
	Nickname  string `json:"nickname"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	IsBot     bool   `json:"is_bot"`
	Timezone  struct {
		UseAutomatic string `json:"useAutomaticTimezone"`
		Automatic    string `json:"automaticTimezone"`
		Manual       string `json:"manualTimezone"`
	} `json:"timezone"`
}

func (u user) name() string {
	return cmp.Or(u.Nickname, strings.TrimSpace(u.FirstName+" "+u.LastName), u.Username)
}

// zone is the IANA name of the person's time zone; empty: unknown.
func (u user) zone() string {
	if u.Timezone.UseAutomatic == "false" {
		return u.Timezone.Manual
	}
	return u.Timezone.Automatic
}

// The types of channels that are treated in a way of their own.
const (
	typeDirect  = "D" // with one person
	typeGroup   = "G" // with several people, without a name
	typePrivate = "P"
)

// channel is a channel of a team, or a chat of two or more people.
type channel struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	TeamID      string `json:"team_id"`
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	LastPostAt  int64  `json:"last_post_at"`
	DeleteAt    int64  `json:"delete_at"`
}

// chat returns the channel's ID in the rest of the program.
func (c channel) chat() string {
	if c.Type == typeDirect {
		return directMark + c.ID
	}
	return c.ID
}

// file is a file of a post.
type file struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime_type"`
	Size int64  `json:"size"`
}

// post is a post. Times are in milliseconds; 0: it did not happen.
type post struct {
	ID         string         `json:"id"`
	CreateAt   int64          `json:"create_at"`
	UpdateAt   int64          `json:"update_at"`
	EditAt     int64          `json:"edit_at"`
	DeleteAt   int64          `json:"delete_at"`
	UserID     string         `json:"user_id"`
	ChannelID  string         `json:"channel_id"`
	RootID     string         `json:"root_id"`     // of its thread's first post; empty: it is none or the first
	OriginalID string         `json:"original_id"` // not empty: it keeps what that post said before an edit
	Message    string         `json:"message"`
	Type       string         `json:"type"`
	Props      map[string]any `json:"props"`
	FileIDs    []string       `json:"file_ids"`
	Metadata   struct {
		Files []file `json:"files"`
	} `json:"metadata"`
}

// postList is a list of posts.
type postList struct {
	Order   []string                   `json:"order"`
	Posts   map[string]json.RawMessage `json:"posts"` // also the first ones of threads, which need not be in Order
	HasNext bool                       `json:"has_next"`
}

// event is what the server sends over the websocket: an event, or the answer to a request.
type event struct {
	Event string `json:"event"`
	Seq   int64  `json:"seq"`
	Data  struct {
		ConnectionID string `json:"connection_id"`
		ChannelType  string `json:"channel_type"`
		SenderName   string `json:"sender_name"`
		Post         string `json:"post"` // JSON
	} `json:"data"`
	SeqReply int64 `json:"seq_reply"`
}

func timeOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
