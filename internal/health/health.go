// Package health says whether a process can do its work, for probes and people.
package health

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// Status sums up a [Report].
type Status string

// The statuses of a process.
const (
	OK Status = "ok"
	// Degraded: it accepts messages and will work on them later.
	Degraded    Status = "degraded"
	Unavailable Status = "unavailable"
)

// Report says how a process is. It is public, so it contains no addresses or errors.
type Report struct {
	Status Status `json:"status"`
	// Parts says, for each part that the process needs, "ok" or what to do.
	Parts map[string]string `json:"parts,omitempty"`
}

// Write answers a request: 503 if the process is unavailable.
func (r Report) Write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if r.Status == Unavailable {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(r) // the client may be gone
}

// Check looks at a process.
type Check func(context.Context) Report

// lifetime is how long a report holds.
const lifetime = time.Second

// Cached returns a check that makes at most one a second, however many clients ask.
func Cached(check Check) Check {
	var (
		mu    sync.Mutex
		last  Report
		until time.Time
	)
	return func(ctx context.Context) Report {
		mu.Lock()
		defer mu.Unlock()
		if time.Now().After(until) {
			last = check(context.WithoutCancel(ctx))
			until = time.Now().Add(lifetime)
		}
		return last
	}
}
