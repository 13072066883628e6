package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// shown bounds, in bytes, a message in a list.
const shown = 120

// List formats jobs as Markdown, with their next runs after now.
func List(jobs []domain.Job, now time.Time) string {
	if len(jobs) == 0 {
		return "There are no jobs."
	}
	var b strings.Builder
	for _, j := range jobs {
		fmt.Fprintf(&b, "- `%s` **%s**: %s", j.ID, j.Label(), When(j))
		if next := Next(j, now); j.Paused {
			b.WriteString("; paused")
		} else if !next.IsZero() && j.Kind != domain.JobAt {
			fmt.Fprintf(&b, "; next %s", Stamp(j, next))
		}
		if !j.FiredAt.IsZero() {
			fmt.Fprintf(&b, "; last run %s", Stamp(j, j.FiredAt))
		}
		if j.Name != "" {
			fmt.Fprintf(&b, " — %s", text.Cut(text.Line(j.Message), shown))
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// When describes a job's schedule.
func When(j domain.Job) string {
	switch j.Kind {
	case domain.JobAt:
		return "once, " + Stamp(j, due(j))
	case domain.JobEvery:
		return "every " + length(interval(j))
	default:
		return fmt.Sprintf("cron %s (%s)", j.Spec, j.Zone)
	}
}

// Stamp formats a time for people, in the job's zone.
func Stamp(j domain.Job, t time.Time) string {
	return t.In(zoneOf(j)).Format("Mon 2006-01-02 15:04:05 MST")
}

// length formats a duration without trailing zero units.
func length(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
