package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

// now is a Monday in winter.
var now = time.Date(2026, 3, 2, 14, 0, 30, 0, time.UTC)

func TestParse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request schedule.Request
		kind    domain.JobKind
		spec    string
		zone    string
	}{
		"a time with an offset":       {schedule.Request{At: "2026-03-04T15:30:00+01:00"}, domain.JobAt, "2026-03-04T14:30:00Z", "UTC"},
		"a time in a zone":            {schedule.Request{At: "2026-07-04T15:30:00", Zone: "Europe/Berlin"}, domain.JobAt, "2026-07-04T13:30:00Z", "Europe/Berlin"},
		"a time in the usual zone":    {schedule.Request{At: "2026-03-04 15:30", Usual: "America/New_York"}, domain.JobAt, "2026-03-04T20:30:00Z", "America/New_York"},
		"a time without seconds":      {schedule.Request{At: "2026-03-04T15:30Z"}, domain.JobAt, "2026-03-04T15:30:00Z", "UTC"},
		"a time that clocks skip":     {schedule.Request{At: "2027-03-14T02:30", Zone: "America/New_York"}, domain.JobAt, "2027-03-14T07:00:00Z", "America/New_York"},
		"a time that comes twice":     {schedule.Request{At: "2027-10-31T02:30", Zone: "Europe/Berlin"}, domain.JobAt, "2027-10-31T00:30:00Z", "Europe/Berlin"},
		"the second of them":          {schedule.Request{At: "2027-10-31T02:30+01:00", Zone: "Europe/Berlin"}, domain.JobAt, "2027-10-31T01:30:00Z", "Europe/Berlin"},
		"an interval":                 {schedule.Request{Every: 2 * time.Hour}, domain.JobEvery, "7200", "UTC"},
		"a cron expression":           {schedule.Request{Cron: " 0  9 * * 1-5 ", Zone: "Europe/Berlin"}, domain.JobCron, "0 9 * * 1-5", "Europe/Berlin"},
		"a cron expression with any":  {schedule.Request{Cron: "0 9 ? * MON"}, domain.JobCron, "0 9 * * MON", "UTC"},
		"a cron expression in a zone": {schedule.Request{Cron: "*/15 * * * *", Zone: "Asia/Tokyo", Usual: "UTC"}, domain.JobCron, "*/15 * * * *", "Asia/Tokyo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.request
			r.Message, r.Name, r.Shortest, r.Now = " water the plants ", " the  plants ", time.Minute, now
			if r.Usual == "" {
				r.Usual = "UTC"
			}
			job, err := schedule.Parse(r)
			require.NoError(t, err)
			require.Equal(t, domain.Job{Name: "the plants", Message: "water the plants", Kind: c.kind, Spec: c.spec, Zone: c.zone}, job)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request schedule.Request
		want    string
	}{
		"no message":       {schedule.Request{Message: " ", Every: time.Hour}, "message is missing"},
		"no time":          {schedule.Request{}, "give exactly one of"},
		"two times":        {schedule.Request{At: "2026-03-04T15:30:00Z", Cron: "0 9 * * *"}, "give exactly one of"},
		"the past":         {schedule.Request{At: "2026-03-02T15:00:30+01:00"}, "at is in the past: 2026-03-02T14:00:30Z; it is now 2026-03-02T14:00:30Z"},
		"no such time":     {schedule.Request{At: "tomorrow"}, `invalid time "tomorrow" in at`},
		"too far":          {schedule.Request{At: "2126-03-02T15:00:30+01:00"}, "too far in the future"},
		"too short":        {schedule.Request{Every: 59 * time.Second}, "at least 60 seconds"},
		"negative":         {schedule.Request{Every: -time.Hour}, "at least 60 seconds"},
		"too long":         {schedule.Request{Every: 100 * 365 * 24 * time.Hour}, "too long"},
		"six fields":       {schedule.Request{Cron: "0 0 9 * * *"}, "has 6 fields; it needs five"},
		"a word":           {schedule.Request{Cron: "@daily"}, "has 1 fields"},
		"a day 8":          {schedule.Request{Cron: "0 9 * * 8"}, "days of the week are 0 to 6"},
		"a minute 60":      {schedule.Request{Cron: "60 9 * * 1"}, "invalid cron expression"},
		"the 30th of Feb":  {schedule.Request{Cron: "0 9 30 2 *"}, "never matches"},
		"a zone in it":     {schedule.Request{Cron: "TZ=UTC 9 * * 1"}, "invalid cron expression"},
		"an unknown zone":  {schedule.Request{Cron: "0 9 * * *", Zone: "Mars/Olympus"}, `unknown time zone "Mars/Olympus"`},
		"this machine's":   {schedule.Request{Cron: "0 9 * * *", Zone: "Local"}, `unknown time zone "Local"`},
		"a long name":      {schedule.Request{Every: time.Hour, Name: strings.Repeat("n", 300)}, "too long"},
		"a path as a zone": {schedule.Request{Cron: "0 9 * * *", Zone: "../../etc/passwd"}, "unknown time zone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.request
			if r.Message == "" {
				r.Message = "do it"
			}
			r.Usual, r.Shortest, r.Now = "UTC", time.Minute, now
			_, err := schedule.Parse(r)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestParseInThisMachinesZone(t *testing.T) {
	for zone, want := range map[string]string{"Asia/Tokyo": "Asia/Tokyo", ":Europe/Berlin": "Europe/Berlin", "nowhere": "UTC"} {
		t.Setenv("TZ", zone)
		job, err := schedule.Parse(schedule.Request{Message: "m", Cron: "0 9 * * *", Now: now})
		require.NoError(t, err)
		require.Equal(t, want, job.Zone)
	}
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}

func TestNext(t *testing.T) {
	t.Parallel()
	once := domain.Job{Kind: domain.JobAt, Spec: "2026-03-02T15:00:00Z"}
	require.Equal(t, at(t, "2026-03-02T15:00:00Z"), schedule.Next(once, now))
	require.Zero(t, schedule.Next(once, at(t, "2026-03-02T15:00:00Z")))

	every := domain.Job{Kind: domain.JobEvery, Spec: "3600", CreatedAt: at(t, "2026-03-02T13:40:10Z")}
	require.Equal(t, at(t, "2026-03-02T14:40:10Z"), schedule.Next(every, now))
	require.Equal(t, at(t, "2026-03-02T14:40:10Z"), schedule.Next(every, every.CreatedAt))

	daily := domain.Job{Kind: domain.JobCron, Spec: "0 9 * * *", Zone: "Europe/Berlin"}
	require.True(t, at(t, "2026-03-03T08:00:00Z").Equal(schedule.Next(daily, now)))

	skipped := domain.Job{Kind: domain.JobCron, Spec: "30 2 * * *", Zone: "Europe/Berlin"}
	for after, want := range map[string]string{
		"2027-03-27T12:00:00Z": "2027-03-29T02:30:00+02:00", "2027-03-28T00:59:59Z": "2027-03-29T02:30:00+02:00", "2027-03-28T01:00:00Z": "2027-03-29T02:30:00+02:00",
	} {
		require.Equal(t, want, schedule.Next(skipped, at(t, after)).Format(time.RFC3339))
	}
}

func TestOccurrence(t *testing.T) {
	t.Parallel()
	once := domain.Job{Kind: domain.JobAt, Spec: "2026-03-02T15:00:00Z"}
	require.Equal(t, schedule.Occurrence(once, at(t, "2026-03-02T15:00:00Z")), schedule.Occurrence(once, at(t, "2026-03-04T15:00:00Z")), "late, or triggered")
	require.True(t, schedule.Ends(once, at(t, "2026-03-02T15:00:00Z")))
	require.NotEqual(t, schedule.Occurrence(once, at(t, "2026-03-02T15:00:00Z")), schedule.Occurrence(once, at(t, "2026-03-02T14:59:59Z")), "run by hand before")
	require.False(t, schedule.Ends(once, at(t, "2026-03-02T14:59:59Z")))

	first, second := at(t, "2026-10-25T00:30:00Z"), at(t, "2026-10-25T01:30:00Z") // 02:30 in Berlin, twice
	daily := domain.Job{Kind: domain.JobCron, Spec: "30 2 * * *", Zone: "Europe/Berlin"}
	require.Equal(t, schedule.Occurrence(daily, first), schedule.Occurrence(daily, second))
	hourly := domain.Job{Kind: domain.JobCron, Spec: "30 * * * *", Zone: "Europe/Berlin"}
	require.NotEqual(t, schedule.Occurrence(hourly, first), schedule.Occurrence(hourly, second))
	require.False(t, schedule.Ends(daily, first))
}

func TestList(t *testing.T) {
	t.Parallel()
	require.Equal(t, "There are no jobs.", schedule.List(nil, now))
	require.Equal(t, "- `a` **plants**: every 2h; next Mon 2026-03-02 15:00:00 UTC — water them\n"+
		"- `b` **remind Ana to call the bank**: once, Wed 2026-03-04 15:30:00 CET\n"+
		"- `c` **stand-up**: cron 0 9 * * 1-5 (Europe/Berlin); paused; last run Mon 2026-03-02 09:00:01 CET — say so", schedule.List([]domain.Job{
		{ID: "a", Name: "plants", Message: "water\nthem", Kind: domain.JobEvery, Spec: "7200", Zone: "UTC", CreatedAt: at(t, "2026-03-02T13:00:00Z")},
		{ID: "b", Message: "remind Ana to call the bank", Kind: domain.JobAt, Spec: "2026-03-04T14:30:00Z", Zone: "Europe/Berlin"},
		{
			ID: "c", Name: "stand-up", Message: "say so", Kind: domain.JobCron, Spec: "0 9 * * 1-5", Zone: "Europe/Berlin", Paused: true,
			FiredAt: at(t, "2026-03-02T08:00:01Z"),
		},
	}, now))
}
