//go:build !linux

package node

// hideEnvironment does nothing: only Linux exposes the environment of a process to
// other processes of its user by default.
func hideEnvironment() error { return nil }
