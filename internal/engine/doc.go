// Package engine runs a real Temporal server on SQLite, and its web UI, inside
// this process.
//
// The effect of its settings, measured on two cores:
//
//	timerProcessorMaxTimeShift 1 s -> 25 ms    a retry due in 0.1 s runs after 0.15 s, not 1 s
//	visibility without 52 of its 58 indexes,   a run's three writes: 4.8 -> 2.0 ms of CPU
//	full text only for runs that have some     time, 1,100 -> 153 KB of write-ahead log
//	a name for the build                       cold start 0.5 -> 0.13 s
//	checkpoints beside the commits             p99 of three commits 32 -> 21 ms, and 24 -> 20 ms
//	worker commands                            a cancellation reaches the activity after 7 ms
//	polls cancelled at a worker's stop         no task is given to a worker that is leaving
//	default task timeout 10 -> 5 s             a schedule that fires while the engine is killed is 5 s late, not 10
//	longer after losses: up to 10 min -> 10 s  a task that was lost seven times in a row waits 15 s, not 46
//	64 workers a queue, none for clusters      3,100 -> 1,000 goroutines, a cold start's CPU time 120 -> 95 ms
//	keep-alive of clients 60 + 10 s -> 1 + 2 s a frozen worker gets no more tasks after 3 s, before others take over
//	bounded caches of runs                     live heap after 4,000 runs 80 -> 41 MB; before, an hour's runs stayed in it
//
// Shards, page cache, mmap, GOGC and synchronous=NORMAL made no
// measurable difference.
package engine
