package llm

import "errors"

// ErrTooLong says that the conversation does not fit the model. Providers wrap
// it in the [remote.Error] of the call.
//
// [remote.Error]: https://pkg.go.dev/github.com/holdfast-ai/holdfast/internal/remote#Error
var ErrTooLong = errors.New("the conversation is too long for the model")

// ErrNoImages says that the model, or its provider, refused the images of the
// conversation: it takes none, or not these. Without them the call may succeed.
// Providers wrap it in the [remote.Error] of the call.
//
// [remote.Error]: https://pkg.go.dev/github.com/holdfast-ai/holdfast/internal/remote#Error
var ErrNoImages = errors.New("the model did not take the images")

// ErrNoProvider says that nothing is configured that could serve the model. The
// error that wraps it says what to set.
var ErrNoProvider = errors.New("no provider")
