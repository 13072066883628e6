package feishu

import (
	"context"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Tune changes the timing of a channel that is not used yet.
func Tune(c *Channel, pace chat.Pace, pings time.Duration) {
	c.pings = pings
	if pings != 0 {
		c.silence = 5 * pings
	}
	c.pace = pace
	c.Outbound = chat.NewOutbound(c.platform, chat.OutboundOptions{Drafts: c.o.Stream, Logger: c.log})
}

// PostDraft posts the draft of a reply.
func PostDraft(ctx context.Context, c *Channel, at chat.Place, reply, text, note string) (string, error) {
	return c.Post(ctx, at, chat.Message{ID: reply, Draft: true, Part: 1, Text: text, Note: note})
}

// EditDraft changes it.
func EditDraft(ctx context.Context, c *Channel, at chat.Place, id, reply, text, note string) error {
	return c.Edit(ctx, at, id, chat.Message{ID: reply, Draft: true, Part: 1, Text: text, Note: note})
}

// Verify checks a request at a time.
func Verify(c *Channel, header http.Header, body []byte, now time.Time) error {
	return c.verify(header, body, now)
}

// Parse reads a payload.
func Parse(c *Channel, payload []byte) (chat.Delivery, any, error) { return c.parse(payload) }

// Content reads the content of a message.
func Content(kind, raw string) (text string, files int) {
	read := readContent("om_1", kind, raw, nil, "ou_bot")
	return read.text, len(read.files)
}

// DecodeFrame decodes a frame and encodes it again.
func DecodeFrame(b []byte) ([]byte, error) {
	f, err := decodeFrame(b)
	return f.encode(), err
}

// Assemble adds the pieces of a message, given as pairs of a number and a payload.
func Assemble(sum int, seqs []int, payloads ...string) ([]byte, error) {
	p := pieces{}
	for i, seq := range seqs {
		whole, err := p.add("m", sum, seq, []byte(payloads[i]))
		if whole != nil || err != nil {
			return whole, err
		}
	}
	return nil, nil
}

// Rendered returns Markdown as a card shows it.
func Rendered(text string) string { return rendered(text) }

// Decrypted decrypts a body.
func Decrypted(body []byte, key string) ([]byte, error) { return decrypted(body, key) }
