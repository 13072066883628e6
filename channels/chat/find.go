package chat

import (
	"slices"

	"github.com/holdfast-ai/holdfast/channels"
)

// find looks for the message with an outbox ID, or else its draft, among messages of
// its conversation.
func find(posted []Posted, id string) channels.Found {
	draft := ""
	newest := true // of ours
	for _, p := range slices.Backward(posted) {
		if !p.Ours {
			continue
		}
		switch {
		case p.Message == id && !p.Draft:
			return channels.Found{Posted: true, PlatformID: p.ID}
		case p.Message == id, p.Message == "" && p.Streaming, p.Message == "" && p.Empty && newest:
			// An open stream, or a blank one left behind by its process, can only be the
			// draft of the current reply.
			draft = p.ID
		}
		newest = false
	}
	return channels.Found{PlatformID: draft}
}

// findDraft looks for the draft of a reply. A stream's draft is recognized by being empty
// and not a known draft (isKnown).
func findDraft(posted []Posted, reply string, stream bool, isKnown func(id string) bool) (id string) {
	for _, p := range posted {
		marked := p.Message == reply && p.Draft
		if p.Ours && (marked || stream && p.Message == "" && p.Empty && !isKnown(p.ID)) {
			return p.ID
		}
	}
	return ""
}
