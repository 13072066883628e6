package whatsapp

import (
	"testing"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Read reads a request as the webhook does.
func Read(t *testing.T, payload []byte) (all []*chat.Origin) {
	t.Helper()
	p := newPlatform(Options{PhoneNumberID: "106540352242922"}.withDefaults())
	found, err := p.read(nil, payload)
	if err != nil {
		return nil
	}
	for _, d := range found {
		switch d := d.(type) {
		case *chat.Post:
			all = append(all, &d.Origin)
		case *chat.Click:
			all = append(all, &d.Origin)
		}
	}
	return all
}
