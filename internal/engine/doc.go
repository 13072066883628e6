// Package engine runs a real Temporal server on SQLite, and its web UI, inside
// this process.
//
// What its settings are worth, measured on two busy cores with a workflow of one
// activity that does nothing (BenchmarkFloor; processor time per message tells
// more than the clock there):
//
//	queue poll rates (20/s: up to 50 ms a task)   the largest part of the latency
//	timerProcessorMaxTimeShift 1 s -> 25 ms       a retry due in 0.1 s comes after 0.1 s, not 1 s
//	visibility without 52 of its 58 indexes       28 -> 22 ms of processor time a message
//	a name for the build                          cold start 470 -> 120 ms
//	static hosts instead of membership            warm start 80 ms, four ports instead of eight
//	worker commands                               a cancel is with the activity after 7 ms
//	synchronous=FULL over NORMAL                  p50 15 -> 21 ms on a plain disk
//	shards, page cache, mmap, GOGC, checkpoints   within the noise
package engine
