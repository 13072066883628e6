package prompt

import (
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/text"
)

const contextHeading = "[Runtime Context]"

// StrangerMark follows the name of someone who is quoted and may not give us tasks.
const StrangerMark = " (not let in)"

// Context is the metadata of a message that the model sees.
type Context struct {
	Now        time.Time // in the user's time zone
	Channel    string
	Chat       string
	SenderName string
	Blind      bool // the message's images are not sent
}

// User returns a user message's text followed by its context. Each value stays on
// one line, since people choose it.
func User(content string, c Context) string {
	var b strings.Builder
	if content = strings.TrimRight(content, " \t\r\n"); content != "" {
		b.WriteString(content + "\n\n")
	}
	b.WriteString(contextHeading + "\nCurrent time: " + c.Now.Format("2006-01-02 15:04 (Monday) MST -07:00"))
	for _, line := range []struct{ label, value string }{
		{"Channel", c.Channel}, {"Chat", c.Chat}, {"Sender", c.SenderName},
	} {
		if value := text.Name(line.value); value != "" {
			b.WriteString("\n" + line.label + ": " + value)
		}
	}
	if c.Blind {
		b.WriteString("\nImages: left out, because this model does not accept them; mention it if they matter")
	}
	return b.String()
}
