package slack

import (
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Hasten shortens all pauses; drafts is the one before a draft.
func (c *Channel) Hasten(drafts time.Duration) {
	c.setPace(chat.Pace{
		Notice: time.Millisecond, Draft: drafts, Status: 5 * time.Millisecond, Stream: 10 * time.Millisecond,
		Edit: 10 * time.Millisecond, Call: 5 * time.Second, Retry: 5 * time.Millisecond,
	})
	c.statusLapse = time.Hour
}

// Calm sets the pause between two changes of a draft, and how long its calls may take.
func (c *Channel) Calm(edits, calls time.Duration) {
	c.pace.Stream, c.pace.Edit, c.pace.Call = edits, edits, calls
	c.setPace(c.pace)
}

// Lapse sets how long a status stays.
func (c *Channel) Lapse(d time.Duration) { c.statusLapse = d }

// Space sets the pause between the parts of a reply.
func (c *Channel) Space(parts time.Duration) {
	c.pace.Part = parts
	c.setPace(c.pace)
}

// Notice sets how long a message may take to be answered without any indication.
func (c *Channel) Notice(d time.Duration) {
	c.pace.Notice = d
	c.setPace(c.pace)
}

func (c *Channel) setPace(p chat.Pace) {
	c.pace = p
	c.Outbound = chat.NewOutbound(c.platform, chat.OutboundOptions{Drafts: c.o.Stream, Logger: c.log})
}

// StopAction names the Stop button.
const StopAction = "holdfast_stop"
