package workflows

import (
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// summaryLimit bounds, in bytes, an activity's summary in the UI.
const summaryLimit = 200

// details is a session's status in Markdown, for the UI.
func details(status protocol.Status) string {
	if status.Turn == "" {
		return fmt.Sprintf("**idle** · %d turns done", status.Turns)
	}
	text := fmt.Sprintf("**turn** `%s` · **step** %d · **tokens** %d\n\n%s", status.Turn, status.Step, status.Tokens, status.Doing)
	if status.Queued > 0 {
		text += fmt.Sprintf("\n\n%d messages are waiting", status.Queued)
	}
	return text
}

// cut shortens text to at most limit bytes of whole characters.
func cut(text string, limit int) string {
	return protocol.Cut(strings.Join(strings.Fields(text), " "), limit)
}
