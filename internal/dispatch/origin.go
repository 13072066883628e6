package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

const (
	// originHeader is the header of workflows and activities with the ID of the store that
	// they belong to.
	originHeader = "holdfast-store"
	// errorOtherStore is the type of the error of an activity that met another store.
	errorOtherStore = "OtherStore"
	// otherStoreDelay is when an activity that met another store is tried again: perhaps by
	// a worker of its own deployment.
	otherStoreDelay = 200 * time.Millisecond
)

// origin sends the ID of the store along with the workflows that a process starts, and
// their activities.
type origin struct{ store string }

type originKey struct{}

// Inject implements [workflow.ContextPropagator].
func (o origin) Inject(_ context.Context, header workflow.HeaderWriter) error {
	return setOrigin(header, o.store)
}

// InjectFromWorkflow implements [workflow.ContextPropagator].
func (o origin) InjectFromWorkflow(ctx workflow.Context, header workflow.HeaderWriter) error {
	store, _ := ctx.Value(originKey{}).(string)
	return setOrigin(header, store)
}

// Extract implements [workflow.ContextPropagator].
func (o origin) Extract(ctx context.Context, header workflow.HeaderReader) (context.Context, error) {
	store, err := readOrigin(header)
	return context.WithValue(ctx, originKey{}, store), err
}

// ExtractToWorkflow implements [workflow.ContextPropagator].
func (o origin) ExtractToWorkflow(ctx workflow.Context, header workflow.HeaderReader) (workflow.Context, error) {
	store, err := readOrigin(header)
	return workflow.WithValue(ctx, originKey{}, store), err
}

func setOrigin(header workflow.HeaderWriter, store string) error {
	if store == "" {
		return nil
	}
	payload, err := converter.GetDefaultDataConverter().ToPayload(store)
	if err == nil {
		header.Set(originHeader, payload)
	}
	return err
}

func readOrigin(header workflow.HeaderReader) (store string, err error) {
	if payload, found := header.Get(originHeader); found {
		err = converter.GetDefaultDataConverter().FromPayload(payload, &store)
	}
	return store, err
}

// storeGuard refuses the activities that belong to another store.
type storeGuard struct {
	interceptor.InterceptorBase

	store     string
	namespace string
	log       *slog.Logger
	warn      sync.Once
}

// InterceptActivity implements [interceptor.WorkerInterceptor].
func (g *storeGuard) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	guarded := &guardedActivity{guard: g}
	guarded.Next = next
	return guarded
}

type guardedActivity struct {
	interceptor.ActivityInboundInterceptorBase

	guard *storeGuard
}

// ExecuteActivity implements [interceptor.ActivityInboundInterceptor].
func (a *guardedActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	if store, _ := ctx.Value(originKey{}).(string); store != "" && store != a.guard.store {
		return nil, a.guard.refuse(store)
	}
	return a.Next.ExecuteActivity(ctx, in)
}

func (g *storeGuard) refuse(store string) error {
	message := fmt.Sprintf("this work belongs to store %s, but this process uses store %s: two deployments use the same names in the Temporal "+
		"namespace %s. Give each a temporal.prefix of its own, or the same store.dsn", store, g.store, g.namespace)
	g.warn.Do(func() { g.log.Warn("refused work of another deployment", "err", message) })
	return temporal.NewApplicationErrorWithOptions(message, errorOtherStore, temporal.ApplicationErrorOptions{
		NextRetryDelay: otherStoreDelay, Category: temporal.ApplicationErrorCategoryBenign,
	})
}
