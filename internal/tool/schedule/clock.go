package schedule

import "time"

// shownAt reads shown, a time in UTC, as local time of a zone. Of a local time that occurs
// twice it returns the first; for one that clocks skip, the moment of the change.
// [time.ParseInLocation] returns either side, depending on the zone.
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
