//go:build race

package store_test

// largeSessions is small: the race detector slows SQLite down thirtyfold.
const largeSessions = 300
