package schedule

import (
	"time"

	"github.com/holdfast-ai/holdfast/internal/store"
)

// gapYears is how far ahead a schedule contains the times in gaps.
const gapYears = 10

// gaps are the times at which a job fires because a switch to daylight saving time
// skips its time. Temporal skips that day; cron runs the job right after the switch,
// and so do we.
func gaps(j store.Job) []time.Time {
	return skipped(j, j.CreatedAt, j.CreatedAt.AddDate(gapYears, 0, 0))
}

// skipped are the switches to daylight saving time in (from, to] that skip a time of a
// cron job.
func skipped(j store.Job, from, to time.Time) (times []time.Time) {
	parsed, err := fields.Parse(j.Spec)
	if err != nil || !hasHours(j.Spec) {
		return nil
	}
	zone := zoneOf(j)
	for t := from.Truncate(time.Hour); !t.After(to); t = t.Add(24 * time.Hour) {
		forward := offset(t.Add(24*time.Hour), zone) - offset(t, zone)
		if forward <= 0 {
			continue
		}
		end := change(t, t.Add(24*time.Hour), zone)
		// The clock's time at the switch, as if it were UTC.
		shown := end.UTC().Add(offset(t, zone))
		if end.After(from) && !end.After(to) && parsed.Next(shown.Add(-time.Second)).Before(shown.Add(forward)) {
			times = append(times, end.In(zone))
		}
	}
	return times
}

// shownAt is when the clocks of a zone show the time that shown is in UTC: the first
// time if they show it twice, and the switch itself if they skip it.
func shownAt(shown time.Time, zone *time.Location) time.Time {
	before, after := offset(shown.Add(-24*time.Hour), zone), offset(shown.Add(24*time.Hour), zone)
	early, late := shown.Add(-max(before, after)), shown.Add(-min(before, after))
	switch {
	case early.Add(offset(early, zone)).Equal(shown):
		return early
	case late.Add(offset(late, zone)).Equal(shown):
		return late
	default:
		return change(early, late, zone)
	}
}

func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// change is when, in (from, to], the offset becomes that of to.
func change(from, to time.Time, zone *time.Location) time.Time {
	for to.Sub(from) > time.Second {
		if middle := from.Add(to.Sub(from) / 2).Truncate(time.Second); offset(middle, zone) == offset(to, zone) {
			to = middle
		} else {
			from = middle
		}
	}
	return to
}
