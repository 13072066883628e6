package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
)

func TestHeartbeatIsActive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		active, zone string
		at           string
		want         bool
	}{
		"always":            {"", "", "2026-03-02T03:00:00Z", true},
		"before":            {"08:00-22:00", "UTC", "2026-03-02T07:59:59Z", false},
		"at the beginning":  {"08:00-22:00", "UTC", "2026-03-02T08:00:00Z", true},
		"at the end":        {"08:00-22:00", "UTC", "2026-03-02T22:00:00Z", false},
		"in the zone":       {"08:00-22:00", "Europe/Berlin", "2026-03-02T07:00:00Z", true},
		"in summer time":    {"08:00-22:00", "Europe/Berlin", "2026-07-02T06:00:00Z", true},
		"past midnight":     {"22:00 - 06:00", "UTC", "2026-03-02T05:59:00Z", true},
		"not past the end":  {"22:00-06:00", "UTC", "2026-03-02T06:00:00Z", false},
		"to the end of day": {"12:00-24:00", "UTC", "2026-03-02T23:59:59Z", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, err := time.Parse(time.RFC3339, c.at)
			require.NoError(t, err)
			require.Equal(t, c.want, config.Heartbeat{Active: c.active, Zone: c.zone}.IsActive(at))
		})
	}
}

func TestJobsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ yaml, want string }{
		"catch up":  {"jobs: {catchup: 1s}", "jobs.catchup: must be at least 10s, not 1s"},
		"overlap":   {"jobs: {overlap: perhaps}", `jobs.overlap: must be one of skip, queue, allow, not "perhaps"`},
		"min every": {"jobs: {min_every: 0s}", "jobs.min_every: must be at least 1s, not 0s"},
		"every":     {"heartbeat: {every: 0s}", "heartbeat.every: must be at least 1s, not 0s"},
		"active":    {"heartbeat: {active: 8-22}", `heartbeat.active: must be hours such as 08:00-22:00, not "8-22"`},
		"zone":      {"heartbeat: {zone: Mars}", `heartbeat.zone: must be a time zone such as Europe/Berlin, not "Mars"`},
		"chat":      {"heartbeat: {channel: slack}", "heartbeat.chat: must be set together with heartbeat.channel, or neither"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(c.yaml)
			require.ErrorContains(t, err, c.want)
		})
	}
}
