package email

import (
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// keyPrefix begins the Message-IDs of our mail: holdfast.KEY[.QUESTION]@DOMAIN.
const keyPrefix = "holdfast."

func (p *platform) domain() string { return p.o.Address[strings.LastIndexByte(p.o.Address, '@')+1:] }

// idOf returns the Message-ID of a mail that we send: the same in every attempt.
func (p *platform) idOf(msg chat.Message) string {
	id := keyPrefix + msg.Key()
	if domain.IsApprovalID(msg.Approval) {
		id += "." + msg.Approval
	}
	return id + "@" + p.domain()
}

// isOurs reports whether a Message-ID is that of a mail that we sent.
func (p *platform) isOurs(id string) bool {
	return strings.HasPrefix(id, keyPrefix) && strings.HasSuffix(id, "@"+p.domain())
}

// questionOf returns the approval that one of our mails asks for; empty: none.
func (p *platform) questionOf(id string) string {
	if !p.isOurs(id) {
		return ""
	}
	parts := strings.SplitN(strings.TrimSuffix(id, "@"+p.domain()), ".", 3)
	if len(parts) < 3 || !domain.IsApprovalID(parts[2]) {
		return ""
	}
	return parts[2]
}
