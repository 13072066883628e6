package approval

import (
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// titleLimit bounds, in bytes, the title of a call in an outcome.
const titleLimit = 80

// Outcome tells who answered a question what became of it. Counts is set if their answer
// decided it.
func Outcome(a domain.Approval, counts bool) string {
	what := fmt.Sprintf("`%s`: %s", a.Tool, text.Cut(text.Line(a.Title), titleLimit))
	switch {
	case a.Status == domain.ApprovalExpired:
		return "Too late: no one answered in time, and it was not run. " + what
	case a.Status == domain.ApprovalDropped:
		return "No longer needed: the request continued or ended without it. " + what
	case !counts:
		return fmt.Sprintf("Already %s by %s. %s", a.Status, a.DecidedBy, what)
	case a.Status == domain.ApprovalDenied:
		return "Denied. " + what
	}
	return "Approved. " + what
}
