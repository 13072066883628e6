package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// Level says how serious a finding is.
type Level string

// The levels. A warning is something that works but may surprise.
const (
	OK   Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
)

// Finding is the outcome of one check.
type Finding struct {
	Level Level
	Topic string // such as "config" or "slack"
	Text  string // one line
	Fix   string // what the user can do; empty for OK
}

// String formats the finding for a terminal, with the fix on a second line.
func (f Finding) String() string {
	text := fmt.Sprintf("%-4s  %-10s  %s", f.Level, f.Topic, f.Text)
	if f.Fix != "" {
		text += "\n      fix: " + f.Fix
	}
	return text
}

type doctor struct {
	environ []string
	report  func(Finding)
	cfg     config.Config // defaults if the config is broken
	running node.RunInfo  // the process running on the home, if any
	stored  bool          // the store exists and its schema is current
}

func (d *doctor) ok(topic, text string, args ...any) { d.add(OK, topic, "", text, args) }

func (d *doctor) warn(topic, fix, text string, args ...any) { d.add(Warn, topic, fix, text, args) }

func (d *doctor) fail(topic, fix, text string, args ...any) { d.add(Fail, topic, fix, text, args) }

func (d *doctor) add(level Level, topic, fix, text string, args []any) {
	line := strings.Join(strings.Fields(fmt.Sprintf(text, args...)), " ")
	d.report(Finding{Level: level, Topic: topic, Text: line, Fix: fix})
}

func localTime(t time.Time) string { return t.Local().Format(time.DateTime) }
