package chat

import "errors"

var (
	// ErrNoMessage is wrapped by the error of a call for a message that does not exist or
	// can no longer be changed.
	ErrNoMessage = errors.New("the message is gone or cannot be changed")
	// ErrStreamEnded is wrapped by the error of a call for a stream that the platform or a
	// person ended.
	ErrStreamEnded = errors.New("the stream has ended")
)
