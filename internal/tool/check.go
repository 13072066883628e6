package tool

import "context"

type checkKey struct{}

// WithCheck returns a context whose calls may take effect only while check returns nil.
func WithCheck(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, checkKey{}, check)
}

// Check returns an error if the call must not take effect: its context has ended, or
// another worker may be making it. Tools call it right before what cannot be taken back.
func Check(ctx context.Context) error {
	if check, ok := ctx.Value(checkKey{}).(func() error); ok {
		if err := check(); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
