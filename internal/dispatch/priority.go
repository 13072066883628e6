package dispatch

import (
	"cmp"

	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// fairnessLimit is the longest fairness key, in bytes, that Temporal takes.
const fairnessLimit = 64

// background is the priority of what no person waits for.
var background = temporal.Priority{PriorityKey: protocol.BackgroundPriority}

// priority is that of a session's run which a message starts. When all slots of a queue
// are taken, senders take turns, however many activities each of them has waiting, and
// jobs come after people. The run's activities and subagents inherit it.
func priority(m domain.Inbound) temporal.Priority {
	p := temporal.Priority{FairnessKey: text.Cut(cmp.Or(m.Sender, m.Session), fairnessLimit)}
	if m.Job != "" || domain.JobOf(m.Session) != "" || m.Session == domain.Heartbeat {
		p.PriorityKey = background.PriorityKey
	}
	return p
}
