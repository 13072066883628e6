package workflows

import (
	"fmt"
	"strconv"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// report shows the session's status in the UI. It writes no event.
func (s *session) report(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, details(s.status(), s.last))
}

func (s *session) status() protocol.Status {
	status := protocol.Status{Queued: len(s.state.Queue), Turns: s.state.Turns, Children: s.state.Children}
	if t := s.turn; t != nil {
		status.Turn, status.Step, status.Doing = t.state.ID, t.state.Step, t.doing
		status.Tokens, status.Cost, status.Unpriced = t.state.Tokens, t.state.Cost, t.state.Unpriced
	}
	return status
}

// summaryLimit bounds, in bytes, an activity's summary in the UI.
const summaryLimit = 200

// details is a session's status in Markdown, for the UI. Last is how its last turn ended;
// empty if the model answered.
func details(status protocol.Status, last string) string {
	if status.Turn == "" {
		text := "**idle** · turns done: " + strconv.Itoa(status.Turns)
		if last != "" {
			text += "\n\nthe last one **" + last + "**"
		}
		return text
	}
	parts := []string{
		fmt.Sprintf("**turn** `%s` · **step** %d · **tokens** %d · **cost** %s",
			status.Turn, status.Step, status.Tokens, domain.Dollars(status.Cost, status.Unpriced)),
		status.Doing,
	}
	for _, child := range status.Children {
		parts = append(parts, "subagent: "+child.Label)
	}
	if status.Queued > 0 {
		parts = append(parts, "messages waiting: "+strconv.Itoa(status.Queued))
	}
	return strings.Join(parts, "\n\n")
}

// cut shortens text to at most limit bytes of whole characters.
func cut(s string, limit int) string {
	return text.Cut(text.Line(s), limit)
}
