package chat

import "errors"

var (
	// ErrNoMessage is wrapped by the error of a call about a message that is not there or
	// cannot be changed any more.
	ErrNoMessage = errors.New("the message is gone or cannot be changed")
	// ErrStreamEnded is wrapped by the error of a call about a stream that was ended, by the
	// platform or a person.
	ErrStreamEnded = errors.New("the stream has ended")
)
