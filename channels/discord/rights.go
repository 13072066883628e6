package discord

import (
	"slices"
	"strconv"
)

// The rights that decide who sees a channel.
const (
	rightAdministrator = 1 << 3
	rightView          = 1 << 10
)

// rights are what somebody may do, as Discord writes them.
type rights string

func (r rights) bits() uint64 {
	bits, _ := strconv.ParseUint(string(r), 10, 64) // unreadable rights are none
	return bits
}

// overwrite changes the rights in a channel, of a role or of a member.
type overwrite struct {
	ID    string `json:"id"`
	Allow rights `json:"allow"`
	Deny  rights `json:"deny"`
}

func (o overwrite) apply(bits uint64) uint64 { return bits&^o.Deny.bits() | o.Allow.bits() }

// isPrivate reports whether not everyone sees a channel.
func (c channel) isPrivate() bool {
	return slices.ContainsFunc(c.Overwrites, func(o overwrite) bool { return o.ID == c.GuildID && o.Deny.bits()&rightView != 0 })
}

// member is a person in a server.
type member struct {
	User  user     `json:"user"`
	Nick  string   `json:"nick"`
	Roles []string `json:"roles"`
}

// serverRights are the rights in a server.
type serverRights struct {
	ID      string `json:"id"`
	OwnerID string `json:"owner_id"`
	Roles   []struct {
		ID     string `json:"id"`
		Rights rights `json:"permissions"`
	} `json:"roles"`
}

// sees reports whether a member sees a channel: Discord applies the rights of their roles, then
// what the channel changes for everyone, for their roles, and for themselves.
func (s serverRights) sees(m member, c channel) bool {
	if m.User.ID == s.OwnerID {
		return true
	}
	var bits uint64
	for _, role := range s.Roles {
		if role.ID == s.ID || slices.Contains(m.Roles, role.ID) {
			bits |= role.Rights.bits()
		}
	}
	if bits&rightAdministrator != 0 {
		return true
	}
	var deny, allow uint64
	var own overwrite
	for _, o := range c.Overwrites {
		switch {
		case o.ID == s.ID:
			bits = o.apply(bits)
		case o.ID == m.User.ID:
			own = o
		case slices.Contains(m.Roles, o.ID):
			deny, allow = deny|o.Deny.bits(), allow|o.Allow.bits()
		}
	}
	return own.apply(bits&^deny|allow)&rightView != 0
}
