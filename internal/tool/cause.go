package tool

import "errors"

// ErrStopped is the cause of a call's context when the user stopped the turn. The tool
// then ends what it started and returns a result that says so. Any other cause means
// that the worker is shutting down and another attempt follows.
var ErrStopped = errors.New("stopped by the user")
