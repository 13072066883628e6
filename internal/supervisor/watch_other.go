//go:build !linux

package supervisor

// watch returns nil: this system does not report file changes.
func watch(entry) <-chan struct{} { return nil }
