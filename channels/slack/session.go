package slack

import (
	"encoding/json"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// sessionStop is a click on the stop button that Slack shows itself in the agent view.
type sessionStop struct {
	Channel  string `json:"channel"`
	ThreadTS string `json:"thread_ts"`
	User     string `json:"user"`
	EventTS  string `json:"event_ts"`
}

// readStop returns the click of an agent_session_stopped event.
func readStop(event json.RawMessage, self Identity) (chat.Delivery, error) {
	var s sessionStop
	if err := json.Unmarshal(event, &s); err != nil {
		return nil, fmt.Errorf("%w: agent_session_stopped: %w", chat.ErrMalformed, err)
	}
	if s.Channel == "" || s.User == "" || !timestamp.MatchString(s.EventTS) {
		return nil, fmt.Errorf("%w: agent_session_stopped without channel, user or time", chat.ErrMalformed)
	}
	click := &chat.Click{Action: chat.ActionStop}
	click.Chat, click.Direct = chatOf(self.TeamID, s.Channel), isDirect(s.Channel)
	click.PlatformID, click.Sender, click.Thread = s.EventTS+"-"+s.User, s.User, s.ThreadTS
	return click, nil
}
