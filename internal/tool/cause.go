package tool

import "errors"

// ErrStopped is the cause of a call's context when the user stopped the turn: a
// tool then ends what it began and returns a result that says so. With any other
// cause the worker goes away and another attempt will follow.
var ErrStopped = errors.New("stopped by the user")
