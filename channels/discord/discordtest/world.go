package discordtest

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// User is a person or a bot.
type User struct {
	ID            string `json:"id"`
	Username      string `json:"username"`
	GlobalName    string `json:"global_name"`
	Discriminator string `json:"discriminator"`
	Avatar        any    `json:"avatar"`
	Bot           bool   `json:"bot,omitempty"`
}

// The types of channels.
const (
	TypeText   = 0
	TypeDirect = 1
	TypeThread = 11
	TypeForum  = 15
)

// Channel is a channel, a thread or a direct chat.
type Channel struct {
	ID            string          `json:"id"`
	Type          int             `json:"type"`
	GuildID       string          `json:"guild_id,omitempty"`
	Name          string          `json:"name,omitempty"`
	ParentID      string          `json:"parent_id,omitempty"`
	OwnerID       string          `json:"owner_id,omitempty"`
	LastMessageID string          `json:"last_message_id,omitempty"`
	Overwrites    []Overwrite     `json:"permission_overwrites,omitempty"`
	Recipients    []*User         `json:"recipients,omitempty"`
	Metadata      *ThreadMetadata `json:"thread_metadata,omitempty"`
	refused       map[string]int  // the code with which calls are refused, by what they do
}

// Overwrite changes the permissions in a channel for a role (type 0) or a member (type 1).
type Overwrite struct {
	ID    string `json:"id"`
	Type  int    `json:"type"`
	Allow string `json:"allow"`
	Deny  string `json:"deny"`
}

// ThreadMetadata is what only threads have.
type ThreadMetadata struct {
	Archived            bool      `json:"archived"`
	Locked              bool      `json:"locked"`
	AutoArchiveDuration int       `json:"auto_archive_duration"`
	ArchiveTimestamp    time.Time `json:"archive_timestamp"`
}

func (s *Server) populate() {
	s.users = map[string]*User{}
	for id, name := range map[string]string{Self: "holdfast", Owner: "olga", Ana: "ana", Bob: "bob", Robot: "robot"} {
		s.users[id] = &User{ID: id, Username: name, GlobalName: map[string]string{Ana: "Ana", Bob: "Bob"}[id], Discriminator: "0", Bot: id == Self || id == Robot}
	}
	s.channels = map[string]*Channel{}
	s.add(&Channel{ID: General, Name: "general"})
	s.add(&Channel{ID: Ops, Name: "ops"})
	s.add(&Channel{ID: Secret, Name: "secret", Overwrites: []Overwrite{
		{ID: Guild, Deny: "1024", Allow: "0"}, {ID: Self, Type: 1, Allow: "1024", Deny: "0"},
	}})
	s.add(&Channel{ID: Forum, Name: "forum", Type: TypeForum})
}

func (s *Server) add(c *Channel) *Channel {
	if c.Type != TypeDirect {
		c.GuildID = Guild
	}
	s.channels[c.ID] = c
	s.order = append(s.order, c.ID)
	return c
}

// guild returns the server as the gateway announces it. The mutex is held.
func (s *Server) guild() map[string]any {
	guild := s.guildObject()
	var channels, threads []*Channel
	for _, id := range s.order {
		c := s.channels[id]
		switch {
		case c == nil || c.Type == TypeDirect:
		case c.Type == TypeThread && !c.Metadata.Archived:
			threads = append(threads, c)
		case c.Type != TypeThread:
			channels = append(channels, c)
		}
	}
	members := []any{s.member(Self)}
	maps.Copy(guild, map[string]any{
		"joined_at": "2026-01-01T00:00:00.000000+00:00", "large": false, "unavailable": false, "member_count": len(s.users), "members": members,
		"channels": channels, "threads": slices.Concat([]*Channel{}, threads), "presences": []any{}, "voice_states": []any{},
		"stage_instances": []any{}, "guild_scheduled_events": []any{}, "soundboard_sounds": []any{},
	})
	return guild
}

// guildObject is the server as the API returns it.
func (s *Server) guildObject() map[string]any {
	role := func(id, name, permissions string, tags map[string]any) map[string]any {
		return map[string]any{
			"id": id, "name": name, "permissions": permissions, "position": 0, "color": 0, "hoist": false, "managed": tags != nil, "mentionable": false,
			"flags": 0, "tags": tags, "colors": map[string]any{"primary_color": 0, "secondary_color": nil, "tertiary_color": nil},
		}
	}
	return map[string]any{
		"id": Guild, "name": "Tests", "icon": nil, "splash": nil, "discovery_splash": nil, "owner_id": Owner, "afk_channel_id": nil, "afk_timeout": 300,
		"verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0, "emojis": []any{}, "features": []any{},
		"mfa_level": 0, "application_id": nil, "system_channel_id": nil, "system_channel_flags": 0, "rules_channel_id": nil, "vanity_url_code": nil,
		"description": nil, "banner": nil, "premium_tier": 0, "preferred_locale": "en-US", "public_updates_channel_id": nil, "nsfw_level": 0,
		"stickers": []any{}, "premium_progress_bar_enabled": false, "safety_alerts_channel_id": nil, "region": "local", "premium_subscription_count": 0,
		// The bot's role comes as Discord makes it: named like the bot.
		"roles": []any{role(Guild, "@everyone", "1071698529857", nil), role(BotRole, "holdfast", "0", map[string]any{"bot_id": Self})},
	}
}

func (s *Server) member(user string) map[string]any {
	roles := []string{}
	if user == Self {
		roles = append(roles, BotRole)
	}
	return map[string]any{
		"user": s.users[user], "nick": nil, "roles": roles, "joined_at": "2026-01-01T00:00:00.000000+00:00", "deaf": false, "mute": false, "flags": 0,
		"avatar": nil, "premium_since": nil, "communication_disabled_until": nil,
	}
}

// OpenThread opens a thread in a channel and returns its ID: that of the message from which it
// is opened, if that is not empty.
func (s *Server) OpenThread(owner, channel, message, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openThread(owner, channel, message, name).ID
}

func (s *Server) openThread(owner, channel, message, name string) *Channel {
	id := message
	if id == "" {
		id = s.mint()
	}
	c := s.add(&Channel{ID: id, Type: TypeThread, Name: name, ParentID: channel, OwnerID: owner, Metadata: &ThreadMetadata{
		AutoArchiveDuration: 1440, ArchiveTimestamp: time.Now().UTC(),
	}})
	s.dispatch("THREAD_CREATE", intentGuilds, c)
	if starter := s.message(channel, message); starter != nil {
		s.post(&Message{ChannelID: c.ID, Author: s.users[owner], Type: 21, Referenced: starter})
	}
	return c
}

// Archive archives a thread, as Discord does with those in which nothing happens.
func (s *Server) Archive(thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[thread]
	c.Metadata = &ThreadMetadata{Archived: true, AutoArchiveDuration: 60, ArchiveTimestamp: time.Now().UTC()}
	s.dispatch("THREAD_UPDATE", intentGuilds, c)
}

// Direct returns the direct chat of the bot with a person.
func (s *Server) Direct(person string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.direct(person).ID
}

func (s *Server) direct(person string) *Channel {
	id := "5" + person[1:]
	if c := s.channels[id]; c != nil {
		return c
	}
	return s.add(&Channel{ID: id, Type: TypeDirect, Recipients: []*User{s.users[person]}})
}

// Remove deletes a channel.
func (s *Server) Remove(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channel]
	delete(s.channels, channel)
	s.dispatch("CHANNEL_DELETE", intentGuilds, c)
}

// Refuse refuses what is done in a channel (post, read, react; or * for all) with a code such
// as 50001 (missing access) or 50013 (missing permissions).
func (s *Server) Refuse(channel, what string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channel]
	if c.refused == nil {
		c.refused = map[string]int{}
	}
	c.refused[what] = code
}

func number(id string) uint64 {
	n, _ := strconv.ParseUint(id, 10, 64)
	return n
}
