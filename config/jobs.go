package config

import (
	"fmt"
	"strings"
	"time"
)

// Values of Jobs.Overlap: what happens if a job is due while its last run is active.
const (
	OverlapSkip  = "skip"  // the new run is skipped
	OverlapQueue = "queue" // the new run waits
	OverlapAllow = "allow" // both run
)

// Jobs are the settings of scheduled prompts.
type Jobs struct {
	CatchUp  time.Duration `yaml:"catchup"` // how late a recurring job may run after a downtime
	Overlap  string        `yaml:"overlap"`
	MinEvery time.Duration `yaml:"min_every"` // the shortest interval of a job
}

// Heartbeat are the settings of the periodic check of HEARTBEAT.md.
type Heartbeat struct {
	Enabled bool          `yaml:"enabled"`
	Every   time.Duration `yaml:"every"`
	Active  string        `yaml:"active"`  // hours of the day, such as 08:00-22:00; empty: all
	Zone    string        `yaml:"zone"`    // IANA time zone of Active; empty: the local one
	Channel string        `yaml:"channel"` // for its messages; empty: none
	Chat    string        `yaml:"chat"`
}

// IsActive reports whether a time is within the active hours, which may span midnight.
func (h Heartbeat) IsActive(t time.Time) bool {
	from, to, err := h.hours()
	if err != nil || h.Active == "" {
		return err == nil
	}
	if zone, err := time.LoadLocation(h.zone()); err == nil {
		t = t.In(zone)
	}
	at := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
	if from <= to {
		return from <= at && at < to
	}
	return at >= from || at < to
}

func (h Heartbeat) zone() string {
	if h.Zone == "" {
		return "Local"
	}
	return h.Zone
}

// hours returns the start and end of the active hours, since midnight.
func (h Heartbeat) hours() (from, to time.Duration, err error) {
	if h.Active == "" {
		return 0, 0, nil
	}
	begin, end, _ := strings.Cut(h.Active, "-")
	if from, err = clock(begin); err == nil {
		to, err = clock(end)
	}
	return from, to, err
}

// clock parses a time of day and returns it as the duration since midnight.
func clock(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if text == "24:00" {
		return 24 * time.Hour, nil
	}
	at, err := time.Parse("15:04", text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time of day", text)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}

func (k *checker) jobs(j Jobs, h Heartbeat) {
	k.when(j.CatchUp < 10*time.Second, "jobs.catchup", "must be at least 10s, not %s", j.CatchUp)
	k.oneOf("jobs.overlap", j.Overlap, OverlapSkip, OverlapQueue, OverlapAllow)
	k.when(j.MinEvery < time.Second, "jobs.min_every", "must be at least 1s, not %s", j.MinEvery)
	k.when(h.Every < time.Second, "heartbeat.every", "must be at least 1s, not %s", h.Every)
	_, _, err := h.hours()
	k.when(err != nil, "heartbeat.active", "must be hours such as 08:00-22:00, not %q", h.Active)
	_, err = time.LoadLocation(h.zone())
	k.when(err != nil, "heartbeat.zone", "must be a time zone such as Europe/Berlin, not %q", h.Zone)
	k.when((h.Channel == "") != (h.Chat == ""), "heartbeat.chat", "must be set together with heartbeat.channel, or neither")
}
