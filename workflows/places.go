package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

const (
	// placeTimeout is how long a place may be silent before what runs there counts as lost.
	placeTimeout = time.Minute
	// glanceTimeout is the same for a look at what runs there.
	glanceTimeout = 5 * time.Second
)

// attempt is how an activity is to be run: on the queue of options, after the places that
// were tried.
type attempt struct {
	options workflow.ActivityOptions
	tried   []string
	silent  bool // one of them does not answer
}

// atPlaces runs an activity anywhere and, for as long as its result names a place, there.
// If that is silent for the timeout, the activity runs anywhere and has to do without it.
func atPlaces(ctx workflow.Context, options workflow.ActivityOptions, timeout time.Duration, run func(attempt) (place string, err error)) error {
	for a := (attempt{options: options}); ; {
		place, err := run(a)
		if timeout, is := errors.AsType[*temporal.TimeoutError](err); is && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START {
			a.options, a.silent = options, true
			continue
		}
		if err != nil || place == "" {
			return err
		}
		a.tried = append(a.tried, place)
		a.options.TaskQueue, a.options.ScheduleToStartTimeout = names(ctx).ExecQueue(place), timeout
	}
}
