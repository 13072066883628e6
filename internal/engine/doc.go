// Package engine runs a real Temporal server on SQLite, and its web UI, inside
// this process.
//
// The effect of its settings, measured on two cores:
//
//	timerProcessorMaxTimeShift 1 s -> 25 ms    a retry due in 0.1 s runs after 0.15 s, not 1 s
//	visibility without 52 of its 58 indexes,   a run's three writes: 4.8 -> 2.0 ms of CPU
//	full text only for runs that have some     time, 1,100 -> 153 KB of write-ahead log
//	a name for the build                       cold start 0.5 -> 0.13 s
//	worker commands                            a cancellation reaches the activity after 7 ms
//
// Shards, page cache, mmap, GOGC, checkpoint interval and synchronous=NORMAL made no
// measurable difference.
package engine
