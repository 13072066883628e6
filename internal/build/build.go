// Package build says which build of Holdfast is running.
package build

import (
	"runtime/debug"
	"time"
)

// Version is set by the linker.
var Version = "dev"

// Commit returns the abbreviated commit of the source, as the Go toolchain
// recorded it, or "unknown".
func Commit() string {
	commit := setting("vcs.revision")
	if commit == "" {
		return "unknown"
	}
	return commit[:min(12, len(commit))]
}

// ID identifies the build among others: its version or, in development, its commit.
func ID() string {
	if Version != "dev" {
		return Version
	}
	return Commit()
}

// Time returns when the source was committed; zero if unknown.
func Time() time.Time {
	committed, _ := time.Parse(time.RFC3339, setting("vcs.time")) // zero if it cannot be parsed
	return committed
}

func setting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
