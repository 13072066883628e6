//go:build !race

package store_test

// largeSessions has those that share a memory exceed 10,000 turns.
const largeSessions = 10_500
