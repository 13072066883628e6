package qq

import (
	"encoding/json"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// ReadEvent reads an event as both transports do; nil if it carries no message.
func ReadEvent(payload []byte) (*chat.Post, error) {
	var f frame
	if err := json.Unmarshal(payload, &f); err != nil {
		return nil, err
	}
	d, err := readEvent(f.Type, f.Data)
	post, _ := d.(*chat.Post)
	return post, err
}

// Ended returns the error of a connection that ended, which identified with a token.
func Ended(c *Channel, token string, err error) error {
	return (&connection{gateway: &gateway{platform: c.platform}, used: token}).ended(err)
}
