// Package engine runs a real Temporal server on SQLite, and its web UI, inside
// this process.
package engine
