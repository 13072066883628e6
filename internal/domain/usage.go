package domain

import "fmt"

// Usage is a number of tokens, as the provider counts them.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Spent sums up model calls.
type Spent struct {
	Calls            int   `json:"calls"`
	PromptTokens     int   `json:"prompt_tokens"`
	CachedTokens     int   `json:"cached_tokens"` // of PromptTokens
	CompletionTokens int   `json:"completion_tokens"`
	Cost             int64 `json:"cost_microdollars"` // as far as prices are known
	Unpriced         int   `json:"unpriced_calls"`    // calls without a known price
}

// Add adds other calls.
func (s *Spent) Add(more Spent) {
	s.Calls += more.Calls
	s.PromptTokens += more.PromptTokens
	s.CachedTokens += more.CachedTokens
	s.CompletionTokens += more.CompletionTokens
	s.Cost += more.Cost
	s.Unpriced += more.Unpriced
}

// Tokens returns the sum of prompt and completion tokens.
func (s Spent) Tokens() int { return s.PromptTokens + s.CompletionTokens }

// Dollars formats a cost in millionths of a US dollar: $0.0123. If the price of some
// calls is unknown the result says so.
func Dollars(microdollars int64, unpriced int) string {
	switch {
	case unpriced > 0 && microdollars == 0:
		return "unknown"
	case unpriced > 0:
		return "at least " + Dollars(microdollars, 0)
	case microdollars == 0:
		return "$0"
	}
	digits := 4
	switch {
	case microdollars < 100:
		digits = 6
	case microdollars >= 10_000_000:
		digits = 2
	}
	return fmt.Sprintf("$%.*f", digits, float64(microdollars)/1e6)
}
