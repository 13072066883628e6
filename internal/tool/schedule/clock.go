package schedule

import "time"

// shownAt is when the clocks of a zone show the time that shown is in UTC: the first
// time if they show it twice, and the switch itself if they skip it.
// [time.ParseInLocation] takes either side, depending on the zone.
func shownAt(shown time.Time, zone *time.Location) time.Time {
	before, after := offset(shown.Add(-24*time.Hour), zone), offset(shown.Add(24*time.Hour), zone)
	early, late := shown.Add(-max(before, after)), shown.Add(-min(before, after))
	switch {
	case early.Add(offset(early, zone)).Equal(shown):
		return early
	case late.Add(offset(late, zone)).Equal(shown):
		return late
	default:
		_, end := early.In(zone).ZoneBounds()
		return end
	}
}

func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
