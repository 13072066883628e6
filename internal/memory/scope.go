package memory

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Kind says whose memory one is.
type Kind string

// The kinds of memory.
const (
	Workspace Kind = "workspace" // everybody's, shared
	Chat      Kind = "channel"   // of one chat of a channel
	Sender    Kind = "sender"    // of one person on a channel
)

// Scope is whose memory one is. The zero value is the workspace's.
type Scope struct {
	Kind    Kind   `json:"kind,omitempty"`
	Channel string `json:"channel,omitempty"`
	ID      string `json:"id,omitempty"` // of the chat or the sender, unique in the channel

	name string // given by [ParseScope] instead of Channel and ID
}

// scopeName matches what [Scope.String] gives of a chat or a sender.
var scopeName = regexp.MustCompile(`^(channel|sender)-[A-Za-z0-9_-]+(~[a-z2-7]{16})?$`)

// ParseScope returns the scope of a name that [Scope.String] gave.
func ParseScope(name string) (Scope, error) {
	if name == string(Workspace) {
		return Scope{}, nil
	}
	parts := scopeName.FindStringSubmatch(name)
	if parts == nil {
		return Scope{}, fmt.Errorf("%q names no scope of memory", name)
	}
	return Scope{Kind: Kind(parts[1]), name: name}, nil
}

// ScopeOf is the one rule for which memory a message belongs to.
func ScopeOf(kind Kind, channel, chat, sender string) (Scope, error) {
	switch kind {
	case Workspace, "":
		return Scope{}, nil
	case Chat:
		return Scope{Kind: kind, Channel: channel, ID: chat}, nil
	case Sender:
		return Scope{Kind: kind, Channel: channel, ID: sender}, nil
	default:
		return Scope{}, fmt.Errorf("%q is not a scope of memory; there are %s, %s and %s", kind, Workspace, Chat, Sender)
	}
}

// ScopeFunc returns the scope that a message belongs to.
type ScopeFunc func(channel, chat, sender string) Scope

// nameLimit bounds, in bytes, what is kept of a scope's parts in its name.
const nameLimit = 80

// String names the scope, such as "workspace" or "sender-slack-T1-U2". Two scopes
// never have the same name, also where upper and lower case do not count; it is
// fit for a folder and for a workflow's ID.
func (s Scope) String() string {
	switch {
	case s.shared():
		return string(Workspace)
	case s.name != "":
		return s.name
	}
	plain := fits(s.Channel, isLower) && len(s.Channel)+len(s.ID) <= nameLimit
	for part := range strings.SplitSeq(s.ID, "/") {
		plain = plain && fits(part, isUpper)
	}
	name := string(s.Kind) + "-" + readable(s.Channel) + "-" + readable(s.ID)
	if plain {
		return name
	}
	// No plain name has a tilde.
	return name[:min(len(name), nameLimit)] + "~" + s.hash()
}

func (s Scope) shared() bool { return s.Kind == Workspace || s.Kind == "" }

// folder is the path of the scope's folder in the workspace.
func (s Scope) folder() string {
	if s.shared() {
		return folder
	}
	return path.Join(folder, s.String())
}

// Facts is the path of the scope's MEMORY.md in the workspace, with slashes.
func (s Scope) Facts() string { return s.file(memoryFile) }

// file is the path of one of the scope's files in the workspace.
func (s Scope) file(name string) string { return path.Join(s.folder(), name) }

// fits reports whether a part can stand in a name as it is.
func fits(part string, allowed func(rune) bool) bool {
	return part != "" && strings.IndexFunc(part, func(r rune) bool { return !allowed(r) }) < 0
}

func isLower(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' }

func isUpper(r rune) bool { return 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' }

// readable replaces by a hyphen what does not belong into a name.
func readable(part string) string {
	return strings.Map(func(r rune) rune {
		if isLower(r) || isUpper(r) {
			return r
		}
		return '-'
	}, part)
}

// hash is 16 characters, 80 bits, of a hash of all that the scope is.
func (s Scope) hash() string {
	h := sha256.New()
	for _, part := range []string{string(s.Kind), s.Channel, s.ID} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)))[:16]
}
