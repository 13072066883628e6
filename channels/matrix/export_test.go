package matrix

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// SetPace sets the pace of a channel under test.
func SetPace(c *Channel, pace chat.Pace) {
	c.pace = pace
	c.Outbound = chat.NewOutbound(c.platform, chat.OutboundOptions{Drafts: c.o.Drafts, Logger: c.o.Logger})
}

// SetTransport has a channel under test make its calls by a transport.
func SetTransport(c *Channel, t http.RoundTripper) { c.http.Transport = t }

// Read parses an event of a room, in which nothing can be looked up.
func Read(c *Channel, id string, raw []byte) chat.Delivery {
	r := &receiver{platform: c.platform, self: account{ID: "@holdfast:example.org", Name: "Holdfast"}}
	r.rooms.Put(id, room{direct: true})
	all := r.parse(id, []json.RawMessage{raw})
	if len(all) == 0 {
		return nil
	}
	e := all[0]
	for _, other := range []string{e.Content.answers(), e.Content.related(relReplace), e.Content.related(relThread), e.Redacts, e.Content.Redacts} {
		r.events.Put(id+" "+other, origin{sender: e.Sender})
	}
	d, err := r.delivery(context.Background(), id, e)
	if err != nil {
		panic(err)
	}
	return d
}

// Draft posts a draft of a reply.
func Draft(ctx context.Context, c *Channel, at, reply, text, note string) (id string, err error) {
	return c.Post(ctx, chat.Place{Chat: at}, chat.Message{ID: reply, Draft: true, Part: 1, Text: text, Note: note})
}
