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
	parsed, err := fields.Parse(j.Spec)
	if err != nil || !hasHours(j.Spec) {
		return nil
	}
	zone, from := zoneOf(j), j.CreatedAt.Truncate(time.Hour)
	var made []client.ScheduleCalendarSpec
	for t := from; t.Before(from.AddDate(gapYears, 0, 0)); t = t.Add(24 * time.Hour) {
		skipped := offset(t.Add(24*time.Hour), zone) - offset(t, zone)
		if skipped <= 0 {
			continue
		}
		end := change(t, t.Add(24*time.Hour), zone)
		// What the clocks would show, as if there were no zones.
		shown := end.UTC().Add(offset(t, zone))
		if parsed.Next(shown.Add(-time.Second)).Before(shown.Add(skipped)) {
			made = append(made, exactly(end.In(zone), "the clocks skip its time"))
		}
	}
	return made
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
