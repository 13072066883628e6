package domain

import "fmt"

// Usage is a number of tokens, as the provider counts them.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Tokens returns the sum of prompt and completion tokens.
func (u Usage) Tokens() int { return u.PromptTokens + u.CompletionTokens }

func (u *Usage) add(more Usage) {
	u.PromptTokens += more.PromptTokens
	u.CompletionTokens += more.CompletionTokens
}

// Spent is the tokens and cost of model calls.
type Spent struct {
	Usage
	Cost     int64 `json:"cost_microdollars"` // as far as prices are known
	Unpriced int   `json:"unpriced_calls"`    // calls without a known price
}

// AddCall adds one model call. cost counts if priced.
func (s *Spent) AddCall(usage Usage, cost int64, priced bool) {
	s.add(usage)
	if priced {
		s.Cost += cost
	} else {
		s.Unpriced++
	}
}

// Totals sums up model calls.
type Totals struct {
	Calls        int `json:"calls"`
	CachedTokens int `json:"cached_tokens"` // of the prompt tokens
	Spent
}

// Add adds other calls.
func (t *Totals) Add(more Totals) {
	t.Calls += more.Calls
	t.CachedTokens += more.CachedTokens
	t.add(more.Usage)
	t.Cost += more.Cost
	t.Unpriced += more.Unpriced
}

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
