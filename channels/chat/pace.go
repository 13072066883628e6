package chat

import "time"

// Pace is the timing of a turn's presentation. Zero fields mean the core's default.
type Pace struct {
	Notice time.Duration // from the turn's start to its first indication: a quick answer needs none
	Draft  time.Duration // from the turn's start to its draft: a quick answer is one post
	Status time.Duration // between two changes of an indication
	Stream time.Duration // between two pieces of a stream
	Edit   time.Duration // between two edits of a draft
	Call   time.Duration // bounds a call that shows progress
	Retry  time.Duration // before a failed call is retried
	Part   time.Duration // between two parts of a reply; default: none
}

// defaultPace suits platforms that take about one message a second in a chat and 50
// edits a minute.
var defaultPace = Pace{
	Notice: 200 * time.Millisecond, Draft: 1500 * time.Millisecond, Status: 2 * time.Second,
	Stream: time.Second, Edit: 1500 * time.Millisecond, Call: 5 * time.Second, Retry: 2 * time.Second,
}

// or returns p with zero fields taken from q.
func (p Pace) or(q Pace) Pace {
	first := func(a, b time.Duration) time.Duration {
		if a != 0 {
			return a
		}
		return b
	}
	return Pace{
		Notice: first(p.Notice, q.Notice), Draft: first(p.Draft, q.Draft), Status: first(p.Status, q.Status),
		Stream: first(p.Stream, q.Stream), Edit: first(p.Edit, q.Edit), Call: first(p.Call, q.Call), Retry: first(p.Retry, q.Retry), Part: first(p.Part, q.Part),
	}
}

const (
	// never is how long to wait if only an event can change anything.
	never = time.Hour
	// inFlight is how long a call without a response may still take effect.
	inFlight = time.Minute
	// placing bounds the search for a draft whose post got no response.
	placing = 8 * time.Second
	// pauseGrace bounds how long the end of an activity waits for a call in flight, which
	// must not take effect after another process's next call.
	pauseGrace = time.Second
	// maxPresented bounds the turns presented at once. Others get only their reply.
	maxPresented = 64
)
