package memory

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Kind says who shares a memory.
type Kind string

// The kinds of memory.
const (
	Workspace Kind = "workspace" // everyone
	Chat      Kind = "channel"   // the members of one chat
	Sender    Kind = "sender"    // one person on one channel
)

// Scope identifies a memory. The zero value is the workspace's.
type Scope struct {
	Kind    Kind   `json:"kind,omitempty"`
	Channel string `json:"channel,omitempty"`
	ID      string `json:"id,omitempty"` // of the chat or sender, unique in the channel

	name string // set by [ParseScope] instead of Channel and ID
}

// scopeName matches [Scope.String] of a chat or sender.
var scopeName = regexp.MustCompile(`^(channel|sender)-[A-Za-z0-9_-]+(~[a-z2-7]{16})?$`)

// ParseScope is the inverse of [Scope.String].
func ParseScope(name string) (Scope, error) {
	if name == string(Workspace) {
		return Scope{}, nil
	}
	parts := scopeName.FindStringSubmatch(name)
	if parts == nil {
		return Scope{}, fmt.Errorf("invalid memory scope %q", name)
	}
	return Scope{Kind: Kind(parts[1]), name: name}, nil
}

// ScopeOf returns the scope of a message when memory is shared by kind.
func ScopeOf(kind Kind, channel, chat, sender string) (Scope, error) {
	switch kind {
	case Workspace, "":
		return Scope{}, nil
	case Chat:
		return Scope{Kind: kind, Channel: channel, ID: chat}, nil
	case Sender:
		return Scope{Kind: kind, Channel: channel, ID: sender}, nil
	default:
		return Scope{}, fmt.Errorf("unknown memory scope %q; use %s, %s or %s", kind, Workspace, Chat, Sender)
	}
}

// ScopeFunc returns the scope that a message belongs to.
type ScopeFunc func(channel, chat, sender string) Scope

const nameLimit = 80 // bytes of the readable part of a scope's name

var (
	notInName = regexp.MustCompile(`[^A-Za-z0-9_]`)
	// The channels and IDs whose names are unique even when hyphens replace slashes and
	// case is ignored.
	plainChannel = regexp.MustCompile(`^[a-z0-9_]+$`)
	plainID      = regexp.MustCompile(`^[A-Z0-9_]+(/[A-Z0-9_]+)*$`)
)

// String returns the scope's name, such as "workspace" or "sender-slack-T1-U2". It
// is unique, ignoring case, and valid as a folder name and in a workflow ID.
func (s Scope) String() string {
	switch {
	case s.shared():
		return string(Workspace)
	case s.name != "":
		return s.name
	}
	name := string(s.Kind) + "-" + notInName.ReplaceAllString(s.Channel, "-") + "-" + notInName.ReplaceAllString(s.ID, "-")
	if plainChannel.MatchString(s.Channel) && plainID.MatchString(s.ID) && len(s.Channel)+len(s.ID) <= nameLimit {
		return name
	}
	// No plain name has a tilde.
	return name[:min(len(name), nameLimit)] + "~" + s.hash()
}

func (s Scope) shared() bool { return s.Kind == Workspace || s.Kind == "" }

// folder returns the path of the scope's folder in the workspace.
func (s Scope) folder() string {
	if s.shared() {
		return folder
	}
	return path.Join(folder, s.String())
}

// Facts returns the path of the scope's MEMORY.md in the workspace, with slashes.
func (s Scope) Facts() string { return s.file(memoryFile) }

// file returns the path of one of the scope's files in the workspace.
func (s Scope) file(name string) string { return path.Join(s.folder(), name) }

// hash returns 16 characters (80 bits) of a hash of the scope.
func (s Scope) hash() string {
	h := sha256.New()
	for _, part := range []string{string(s.Kind), s.Channel, s.ID} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)))[:16]
}
