package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	// serviceTries is how many attempts a service that fails gets before the user
	// is told. An attempt lost with its worker counts, but never decides.
	serviceTries = 8
	// longestWait bounds how long we wait because a service asked us to.
	longestWait = 15 * time.Minute
	// handBack is the delay before the next attempt when this worker gives an
	// activity back unharmed.
	handBack = 100 * time.Millisecond
)

// Types of retryable errors, as the UI shows them.
const (
	errorHandBack  = "HandBack"
	errorTemporary = "Temporary"
)

// errModel says that the model which a session was told to use cannot be had.
var errModel = errors.New("the model chosen for this conversation cannot be used")

// failure decides what becomes of an activity that ended with err: hopeless
// errors end the turn with a sentence for the user, the others are tried again.
// A nil err is nil. ctx is the activity's, live the one from [alive].
func failure(ctx, live context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctxFailure(live); ended != nil {
		return ended
	}
	switch failed := remote.As(err); {
	case errors.Is(err, llm.ErrTooLong):
		return hopeless(protocol.ErrorTooLong, "The conversation is too long for the model. Start a new one with /new.")
	case errors.Is(err, store.ErrTurnEnded), errors.Is(err, domain.ErrNotFound):
		return hopeless(protocol.ErrorInvalid, "The request had ended already: "+err.Error())
	case errors.Is(err, errModel):
		return hopeless(protocol.ErrorRefused, fmt.Sprintf("I could not ask: %v. `/model %s` goes back to the configured one.", err, defaultModel))
	case failed == nil:
		return err
	case failed.Permanent():
		return hopeless(protocol.ErrorRefused, refusal(failed))
	case activity.GetInfo(ctx).Attempt >= serviceTries:
		return hopeless(protocol.ErrorRefused, fmt.Sprintf("I could not get an answer after %d attempts: %v. Try again later.", serviceTries, err))
	default:
		return temporary(failed, err)
	}
}

// undelivered decides what becomes of a delivery that ended with err: it is tried
// for as long as the workflow wants, for the channel may be away for hours.
func undelivered(live context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctxFailure(live); ended != nil {
		return ended
	}
	if errors.Is(err, domain.ErrNotFound) {
		return hopeless(protocol.ErrorInvalid, "There is no such reply: "+err.Error())
	}
	if failed := remote.As(err); failed != nil {
		return temporary(failed, err)
	}
	return err
}

// temporary is an error that another attempt may cure, after the time that the
// service asked for.
func temporary(failed *remote.Error, err error) error {
	return temporal.NewApplicationErrorWithOptions(text.Cut(err.Error(), protocol.PreviewLimit), errorTemporary, temporal.ApplicationErrorOptions{
		NextRetryDelay: min(failed.RetryAfter, longestWait),
	})
}

// caught turns a panic into an error that ends the step: another attempt would
// most likely panic, too. It is deferred.
func caught(log *slog.Logger, err *error) {
	if p := recover(); p != nil {
		log.Error("panic", "panic", p, "stack", string(debug.Stack()))
		*err = hopeless(protocol.ErrorInvalid, fmt.Sprintf("Something broke inside Holdfast (%v). Its log says where.", p))
	}
}

// ctxFailure is what an activity returns whose context ended; nil if it did not.
func ctxFailure(ctx context.Context) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return nil
	case errors.Is(cause, tool.ErrStopped):
		return temporal.NewCanceledError()
	default:
		return temporal.NewApplicationErrorWithOptions(cause.Error(), errorHandBack, temporal.ApplicationErrorOptions{
			NextRetryDelay: handBack,
			Category:       temporal.ApplicationErrorCategoryBenign,
		})
	}
}

// hopeless is an error that no other attempt cures; message is for the user.
func hopeless(kind, message string) error {
	return temporal.NewApplicationErrorWithOptions(text.Cut(message, protocol.PreviewLimit), kind, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// refusal says what a service refused and what to do about it.
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
