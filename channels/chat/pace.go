package chat

import "time"

// Pace is how fast a turn is shown. Zero fields have the core's default.
type Pace struct {
	Notice time.Duration // from the turn's start to its first sign: a quick answer needs none
	Draft  time.Duration // from the turn's start to its draft: a quick answer is one post
	Status time.Duration // between two changes of an indication
	Stream time.Duration // between two pieces of a stream
	Edit   time.Duration // between two edits of a draft
	Call   time.Duration // bounds a call that shows something
	Retry  time.Duration // until a failed call is tried again
}
