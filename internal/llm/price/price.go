// Package price computes what model calls cost.
package price

import (
	"math"
	"regexp"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Price is the price of a model's tokens, in US dollars per million. The zero value
// is free.
type Price struct {
	Input  float64
	Cached float64 // input read from the provider's cache; 0: same as Input
	Output float64
}

// Cost returns the cost of a call in millionths of a US dollar; cached is how many
// tokens of its prompt were cached. It is an estimate: surcharges for long prompts,
// cache writes and peak hours are ignored.
func (p Price) Cost(u domain.Usage, cached int) (microdollars int64) {
	cheap := p.Cached
	if cheap == 0 {
		cheap = p.Input
	}
	cached = min(cached, u.PromptTokens)
	// Tokens times dollars per million tokens are millionths of a dollar.
	sum := float64(u.PromptTokens-cached)*p.Input + float64(cached)*cheap + float64(u.CompletionTokens)*p.Output
	return int64(math.Round(sum))
}

// Table holds the prices of models. Safe for concurrent use.
type Table struct {
	own   map[string]Price
	known map[string]Price
	kinds map[string]string
}

// New returns a table of the built-in prices and the user's own, which take
// precedence. The keys of own are "provider/model" as the user writes them; a
// trailing "*" matches any suffix. kinds maps configured provider names to registry
// names.
func New(own map[string]Price, kinds map[string]string) *Table {
	return &Table{own: normalized(own), known: normalized(known()), kinds: kinds}
}

// Lookup returns the price of a provider's model and whether it is known. Of the
// model's names (the one requested, the one the provider reports) the first with a
// price counts.
func (t *Table) Lookup(provider string, models ...string) (Price, bool) {
	for _, model := range models {
		if p, ok := find(t.own, normal(provider+"/"+model)); ok {
			return p, true
		}
	}
	if kind, ok := t.kinds[provider]; ok {
		provider = kind
	}
	for _, model := range models {
		if p, ok := find(t.known, billed(normal(provider+"/"+model))); ok {
			return p, true
		}
	}
	return Price{}, false
}

// Cost is [Price.Cost] for a provider's model, and reports whether its price is
// known.
func (t *Table) Cost(u domain.Usage, cached int, provider string, models ...string) (microdollars int64, known bool) {
	p, known := t.Lookup(provider, models...)
	return p.Cost(u, cached), known
}

// find returns the price of the most specific pattern that matches name.
func find(prices map[string]Price, name string) (best Price, found bool) {
	longest := 0
	for pattern, p := range prices {
		if n := match(pattern, name); n > longest {
			longest, best, found = n, p, true
		}
	}
	return best, found
}

// version matches the version suffixes of a model with a price, such as a date.
var version = regexp.MustCompile(`^-(latest|\d{4}[-\d]*)$`)

// match returns how specifically pattern matches name, 0 if it does not.
func match(pattern, name string) int {
	if prefix, any := strings.CutSuffix(pattern, "*"); any {
		if strings.HasPrefix(name, prefix) {
			return 2 * len(prefix)
		}
		return 0
	}
	if rest, ok := strings.CutPrefix(name, pattern); ok && (rest == "" || version.MatchString(rest)) {
		return 2*len(pattern) + 1
	}
	return 0
}

// billed returns the name under which a model's price is listed: some providers
// charge the vendor's price.
func billed(name string) string {
	if strings.HasPrefix(name, "openrouter/") && strings.HasSuffix(name, ":free") {
		return "openrouter/:free"
	}
	for _, same := range passedOn() {
		if rest, ok := strings.CutPrefix(name, same[0]); ok {
			return same[1] + rest
		}
	}
	return name
}

// normal returns the canonical spelling of a model's name.
func normal(name string) string { return strings.ReplaceAll(strings.ToLower(name), ".", "-") }

func normalized(prices map[string]Price) map[string]Price {
	out := make(map[string]Price, len(prices))
	for name, p := range prices {
		out[normal(name)] = p
	}
	return out
}
