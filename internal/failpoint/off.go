//go:build !failpoint

// Package failpoint stops the process at a named point, so that tests can see
// what a crash there does. Without the build tag failpoint it does nothing.
package failpoint

// Hit does nothing in this build.
func Hit(string) {}
