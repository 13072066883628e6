package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// Request asks for a job. Exactly one of At, Every and Cron is set.
type Request struct {
	Name    string
	Message string
	At      string        // RFC 3339; without an offset it is in Zone
	Every   time.Duration // at least Shortest
	Cron    string        // five fields, in Zone
	Zone    string        // IANA name; empty: Usual
	Usual   string        // the user's zone; empty: this machine's
	// Shortest is the shortest interval that is allowed.
	Shortest time.Duration
	Now      time.Time
}

const (
	// nameLimit and messageLimit bound a job's texts, in bytes.
	nameLimit    = 200
	messageLimit = 16_000
	// longest bounds an interval, and how far in the future a time may be.
	longest = 50 * 365 * 24 * time.Hour
)

// Parse returns the requested job without an ID and a route. Its errors are for the user or
// the model.
func Parse(r Request) (domain.Job, error) {
	job := domain.Job{Name: text.Line(r.Name), Message: strings.TrimSpace(r.Message)}
	switch {
	case job.Message == "":
		return domain.Job{}, errors.New("message is missing: say what to do when the job is due")
	case len(job.Message) > messageLimit || len(job.Name) > nameLimit:
		return domain.Job{}, fmt.Errorf("too long: message may have %d bytes and name %d; put long instructions into a file and name it", messageLimit, nameLimit)
	}
	zone, err := r.zone()
	if err != nil {
		return domain.Job{}, err
	}
	job.Zone = zone.String()
	at, every, expression := strings.TrimSpace(r.At), r.Every, strings.TrimSpace(r.Cron)
	switch {
	case at != "" && every == 0 && expression == "":
		job.Kind = domain.JobAt
		job.Spec, err = parseAt(at, zone, r.Now)
	case at == "" && every != 0 && expression == "":
		job.Kind = domain.JobEvery
		job.Spec, err = parseEvery(every, r.Shortest)
	case at == "" && every == 0 && expression != "":
		job.Kind = domain.JobCron
		job.Spec, err = parseCron(expression, zone, r.Now)
	default:
		return domain.Job{}, errors.New("give exactly one of at (once), an interval and a cron expression")
	}
	return job, err
}

func (r Request) zone() (*time.Location, error) {
	name := strings.TrimSpace(r.Zone)
	if name == "" {
		name = r.Usual
	}
	if name == "" {
		name = machineZone()
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("unknown time zone %q; use a name such as Europe/Berlin, America/New_York or UTC", name)
	}
	return zone, nil
}

// parseAt accepts RFC 3339 with or without an offset, as models write both.
func parseAt(text string, zone *time.Location, now time.Time) (string, error) {
	at, err := readTime(text, zone)
	switch {
	case err != nil:
		return "", fmt.Errorf("invalid time %q in at; write it as 2026-03-04T15:30:00+01:00", text)
	case !at.After(now):
		return "", fmt.Errorf("at is in the past: %s; it is now %s", at.In(zone).Format(time.RFC3339), now.In(zone).Format(time.RFC3339))
	case at.Sub(now) > longest:
		return "", fmt.Errorf("at is too far in the future: %s", text)
	}
	return at.UTC().Format(time.RFC3339), nil
}

func readTime(text string, zone *time.Location) (at time.Time, err error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err = time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if at, err = time.Parse(layout, text); err == nil {
			return shownAt(at, zone), nil
		}
	}
	return time.Time{}, err
}

func parseEvery(every, shortest time.Duration) (string, error) {
	every = every.Truncate(time.Second)
	if every < max(shortest, time.Second) {
		return "", fmt.Errorf("the interval is too short: it must be at least %d seconds", int(max(shortest, time.Second).Seconds()))
	}
	if every > longest {
		return "", errors.New("the interval is too long")
	}
	return strconv.Itoa(int(every / time.Second)), nil
}

// fields parses the five fields of a cron expression.
var fields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

func parseCron(text string, zone *time.Location, now time.Time) (string, error) {
	parts := strings.Fields(strings.ReplaceAll(text, "?", "*"))
	if len(parts) != 5 {
		return "", fmt.Errorf("the cron expression %q has %d fields; it needs five: minute, hour, day of the month, month, day of the week", text, len(parts))
	}
	expression := strings.Join(parts, " ")
	parsed, err := fields.Parse(expression)
	if err != nil {
		return "", fmt.Errorf("invalid cron expression %q: %w (days of the week are 0 to 6, 0 is Sunday, or names such as MON)", text, err)
	}
	if parsed.Next(now.In(zone)).IsZero() {
		return "", fmt.Errorf("the cron expression %q never matches", text)
	}
	return expression, nil
}

// expressions translates a cron expression for Temporal. If both the day of the month and
// the day of the week are restricted, cron runs when either matches and Temporal when both
// do.
func expressions(spec string) []string {
	part := strings.Fields(spec)
	if strings.HasPrefix(part[2], "*") || strings.HasPrefix(part[4], "*") {
		return []string{spec}
	}
	byDay, byWeekday := slices.Clone(part), slices.Clone(part)
	byDay[4], byWeekday[2] = "*", "*"
	return []string{strings.Join(byDay, " "), strings.Join(byWeekday, " ")}
}

// Next returns when a job is due next after a time; zero if never.
func Next(j domain.Job, after time.Time) time.Time {
	switch j.Kind {
	case domain.JobAt:
		if at := due(j); at.After(after) {
			return at
		}
	case domain.JobEvery:
		every, first := interval(j), j.CreatedAt.Truncate(time.Second)
		return first.Add((max(after.Sub(first), 0)/every + 1) * every)
	case domain.JobCron:
		parsed, err := fields.Parse(j.Spec)
		if err != nil {
			return time.Time{}
		}
		return parsed.Next(after.In(zoneOf(j)))
	}
	return time.Time{}
}

// Occurrence identifies the time at which a job was due. A one-time job has only one
// occurrence, even if it is late. A job for certain hours of the day fires once per local
// time, even if clocks go back and show that time twice.
func Occurrence(j domain.Job, at time.Time) string {
	switch {
	case j.Kind == domain.JobAt && !at.Before(due(j)):
		return "once"
	case j.Kind == domain.JobCron && hasHours(j.Spec):
		return at.In(zoneOf(j)).Format("2006-01-02T15:04:05.999999999")
	default:
		return at.UTC().Format(time.RFC3339Nano)
	}
}

// Ends reports whether an occurrence is the job's last.
func Ends(j domain.Job, at time.Time) bool { return j.Kind == domain.JobAt && !at.Before(due(j)) }

// hasHours reports whether a cron expression is for certain hours rather than for all.
func hasHours(spec string) bool { return !strings.HasPrefix(strings.Fields(spec)[1], "*") }

// due returns the time of a one-time job.
func due(j domain.Job) time.Time {
	at, _ := time.Parse(time.RFC3339, j.Spec) // as parseAt wrote it
	return at
}

func interval(j domain.Job) time.Duration {
	seconds, _ := strconv.Atoi(j.Spec) // as parseEvery wrote it
	return time.Duration(max(seconds, 1)) * time.Second
}

func zoneOf(j domain.Job) *time.Location {
	if zone, err := time.LoadLocation(j.Zone); err == nil {
		return zone
	}
	return time.UTC
}
