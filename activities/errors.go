package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	// serviceTries bounds the attempts at a service before the user is told. Attempts lost
	// with their worker do not count.
	serviceTries = 8
	// longestWait bounds the delay that a service may ask for.
	longestWait = 15 * time.Minute
	// releaseDelay is the delay before the next attempt after this worker released an
	// activity.
	releaseDelay = 100 * time.Millisecond
)

// Types of retryable errors, as the UI shows them.
const (
	errorRelease   = "Released"
	errorTemporary = "Temporary"
)

// errModel reports that the model chosen for a session is not available.
var errModel = errors.New("the model chosen for this conversation cannot be used")

// failure classifies an activity's error. A non-retryable one ends the turn with a sentence
// for the user; any other is retried. ctx is the activity's context, live the one from
// [startHeartbeat].
func failure(ctx, live context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctxFailure(live); ended != nil {
		return ended
	}
	switch failed := remote.As(err); {
	case errors.Is(err, errRelease):
		return release(ctx, err)
	case errors.Is(err, llm.ErrTooLong):
		return nonRetryable(protocol.ErrorTooLong, "The conversation is too long for the model. Start a new one with /new.")
	case errors.Is(err, store.ErrTurnEnded), errors.Is(err, domain.ErrNotFound):
		return nonRetryable(protocol.ErrorInvalid, "The request has already ended: "+err.Error())
	case errors.Is(err, errModel):
		return nonRetryable(protocol.ErrorRefused, fmt.Sprintf("I could not call the model: %v. `/model %s` switches back to the configured one.", err, defaultModel))
	case failed == nil:
		return err
	case failed.Permanent():
		return nonRetryable(protocol.ErrorRefused, refusal(failed))
	case attemptOf(ctx) >= serviceTries:
		return nonRetryable(protocol.ErrorRefused, fmt.Sprintf("I could not get an answer after %d attempts: %v. Try again later.", serviceTries, err))
	default:
		return temporary(failed, err)
	}
}

// undelivered classifies the error of a delivery. It is retried for as long as the workflow
// allows, since the channel may be unavailable for hours.
func undelivered(live context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctxFailure(live); ended != nil {
		return ended
	}
	if errors.Is(err, domain.ErrNotFound) {
		return nonRetryable(protocol.ErrorInvalid, "Reply not found: "+err.Error())
	}
	if failed := remote.As(err); failed != nil {
		return temporary(failed, err)
	}
	return err
}

// temporary is a retryable error, with the delay that the service asked for.
func temporary(failed *remote.Error, err error) error {
	return temporal.NewApplicationErrorWithOptions(text.Cut(err.Error(), protocol.PreviewLimit), errorTemporary, temporal.ApplicationErrorOptions{
		NextRetryDelay: min(failed.RetryAfter, longestWait),
	})
}

// recoverPanic turns a panic into a non-retryable error: another attempt would most
// likely panic too. Every activity defers it.
func recoverPanic(ctx context.Context, err *error) {
	if p := recover(); p != nil {
		activity.GetLogger(ctx).Error("panic", "panic", p, "stack", string(debug.Stack()))
		*err = nonRetryable(protocol.ErrorInvalid, fmt.Sprintf("Internal error; see the log. (%v)", p))
	}
}

// ctxFailure returns the error of an activity whose context has ended, or nil.
func ctxFailure(ctx context.Context) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return nil
	case errors.Is(cause, tool.ErrStopped):
		return temporal.NewCanceledError()
	default:
		return release(ctx, cause)
	}
}

// release returns the error after which another worker continues at once. An attempt that
// the worker's stop ended does not count as one.
func release(ctx context.Context, cause error) error {
	if errors.Is(cause, errStopping) {
		activity.RecordHeartbeat(context.WithoutCancel(ctx), lostAttempts(ctx)+1)
	}
	return temporal.NewApplicationErrorWithOptions(cause.Error(), errorRelease, temporal.ApplicationErrorOptions{
		NextRetryDelay: releaseDelay,
		Category:       temporal.ApplicationErrorCategoryBenign,
	})
}

// nonRetryable returns an error that ends the turn; message is for the user.
func nonRetryable(kind, message string) error {
	return temporal.NewApplicationErrorWithOptions(text.Cut(message, protocol.PreviewLimit), kind, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// refusal tells the user why a service rejected a request and how to fix it.
func refusal(failed *remote.Error) string {
	advice := ""
	switch failed.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		advice = fmt.Sprintf(" Check the API key: providers.%s.api_key, or its environment variable.", failed.Service)
	case http.StatusNotFound:
		advice = fmt.Sprintf(" Check the model's name (model) and providers.%s.base_url.", failed.Service)
	case http.StatusPaymentRequired:
		advice = " Check the account's balance."
	}
	return fmt.Sprintf("%s refused the request: %v.%s", failed.Service, failed, advice)
}
