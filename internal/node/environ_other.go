//go:build !linux

package node

// hideEnvironment does nothing: only Linux shows a process's environment to
// others of its user by default.
func hideEnvironment() error { return nil }
