// Package domain defines the vocabulary of the product: messages, sessions, turns,
// tool calls, approvals, subagents, jobs, and the rules that derive their IDs. The
// store persists these types, channels carry them, and workflows and activities refer
// to them. It imports no other package of this module.
package domain

import "errors"

// Errors shared by the store and the channels.
var (
	ErrNotFound = errors.New("not found")
	// ErrConflict reports an ID that belongs to a message with another text or session.
	ErrConflict = errors.New("the ID is taken by another message")
)
