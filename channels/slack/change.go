package slack

import (
	"encoding/json"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// change is an edit or a removal of a message.
type change struct {
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"`
	EventTS     string `json:"event_ts"`
	Message     post   `json:"message"` // as it is now; of a removal: none
	Previous    post   `json:"previous_message"`
}

// readChange returns the change that a message_changed or message_deleted event reports; nil
// if nobody changed what was written.
func readChange(event json.RawMessage, self Identity) (chat.Delivery, error) {
	var c change
	if err := decode(event, &c); err != nil {
		return nil, err
	}
	now, deleted := c.Message, c.Message.TS == "" || c.Message.SubType == "tombstone"
	if deleted {
		now = c.Previous
	}
	if now.User == "" || now.isBot() || now.User == self.UserID || !deleted && now.Text == c.Previous.Text {
		return nil, nil // such as a preview of a link that was added
	}
	now.Channel, now.ChannelType = c.Channel, c.ChannelType
	if now.Channel == "" || !timestamp.MatchString(now.TS) || !timestamp.MatchString(c.EventTS) {
		return nil, fmt.Errorf("%w: change without channel or time", chat.ErrMalformed)
	}
	return &chat.Change{Origin: now.delivery(self).Origin, Version: c.EventTS, Deleted: deleted}, nil
}
