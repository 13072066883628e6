package schedule

import (
	"time"

	"go.temporal.io/sdk/client"

	"github.com/holdfast-ai/holdfast/internal/store"
)

// gapYears is for how long a schedule knows when the clocks will go forward.
const gapYears = 10

// gaps are the times at which a job is to fire because the clocks go forward over
// the time for which it is. Temporal leaves such a day out; cron makes up for it
// at once, and so do we.
func gaps(j store.Job) []client.ScheduleCalendarSpec {
	var made []client.ScheduleCalendarSpec
	for _, t := range skipped(j, j.CreatedAt, j.CreatedAt.AddDate(gapYears, 0, 0)) {
		made = append(made, exactly(t, "the clocks skip its time"))
	}
	return made
}

// skipped are the times after from and not after to at which the clocks go forward
// over a time of a job for the calendar.
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
		// What the clocks would show, as if there were no zones.
		shown := end.UTC().Add(offset(t, zone))
		if end.After(from) && !end.After(to) && parsed.Next(shown.Add(-time.Second)).Before(shown.Add(forward)) {
			times = append(times, end.In(zone))
		}
	}
	return times
}

// shownAt is when the clocks of a zone show what shown is in UTC: the first time, if
// they do twice, and where they go forward over it, when they do.
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

// change is when, after from and until to, the offset becomes that of to.
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

// exactly is one time, as the clocks show it.
func exactly(t time.Time, comment string) client.ScheduleCalendarSpec {
	at := func(value int) []client.ScheduleRange { return []client.ScheduleRange{{Start: value}} }
	return client.ScheduleCalendarSpec{
		Year: at(t.Year()), Month: at(int(t.Month())), DayOfMonth: at(t.Day()),
		Hour: at(t.Hour()), Minute: at(t.Minute()), Second: at(t.Second()), Comment: comment,
	}
}
