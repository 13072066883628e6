package remote

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds how long a service may ask to wait.
const maxRetryAfter = 24 * time.Hour

// RetryAfter returns how long a response asks to wait from now: Retry-After-Ms
// (milliseconds), else Retry-After (seconds or an HTTP date). It is 0 if both are
// missing, invalid or in the past.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, ok := parseNumber(h.Get("Retry-After-Ms")); ok {
		return bounded(ms / 1000)
	}
	value := h.Get("Retry-After")
	if seconds, ok := parseNumber(value); ok {
		return bounded(seconds)
	}
	if at, err := http.ParseTime(value); err == nil {
		return bounded(at.Sub(now).Seconds())
	}
	return 0
}

func parseNumber(s string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return f, err == nil && !math.IsNaN(f)
}

func bounded(seconds float64) time.Duration {
	seconds = max(0, min(seconds, maxRetryAfter.Seconds()))
	return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
}
