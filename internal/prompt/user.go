package prompt

import (
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/text"
)

const contextHeading = "[Runtime Context]"

// Context is what a model should know of a message besides its text.
type Context struct {
	Now        time.Time // in the zone that the user should see
	Channel    string
	Chat       string
	SenderName string
	Blind      bool // pictures that came with it are not shown to the model
}

// User returns a user message's text with the context under it. The text of the
// context cannot end its lines, whoever chose it.
func User(content string, c Context) string {
	var b strings.Builder
	if content = strings.TrimRight(content, " \t\r\n"); content != "" {
		b.WriteString(content + "\n\n")
	}
	b.WriteString(contextHeading + "\nCurrent time: " + c.Now.Format("2006-01-02 15:04 (Monday) MST -07:00"))
	for _, line := range []struct{ label, value string }{
		{"Channel", c.Channel}, {"Chat", c.Chat}, {"Sender", c.SenderName},
	} {
		if value := text.Line(line.value); value != "" {
			b.WriteString("\n" + line.label + ": " + value)
		}
	}
	if c.Blind {
		b.WriteString("\nPictures: left out, since this model does not take them; say so if they matter")
	}
	return b.String()
}
