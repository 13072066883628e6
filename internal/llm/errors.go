package llm

import "errors"

// ErrTooLong means that the conversation does not fit the model. Providers wrap it
// in the call's [remote.Error].
//
// [remote.Error]: https://pkg.go.dev/github.com/holdfast-ai/holdfast/internal/remote#Error
var ErrTooLong = errors.New("the conversation is too long for the model")

// ErrNoImages means that the model or its provider rejected the conversation's
// images. Without them the call may succeed. Providers wrap it in the call's
// [remote.Error].
//
// [remote.Error]: https://pkg.go.dev/github.com/holdfast-ai/holdfast/internal/remote#Error
var ErrNoImages = errors.New("the model rejected the images")

// ErrNoProvider means that no configured provider serves the model. The error that
// wraps it says what to set.
var ErrNoProvider = errors.New("no provider")
