// Package price knows what model calls cost.
package price

import (
	"math"
	"regexp"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Price is what tokens of a model cost, in US dollars per million. The zero value
// is a model that costs nothing.
type Price struct {
	Input  float64
	Cached float64 // of input that the provider had in its cache; 0: as Input
	Output float64
}

// Cost returns what a call costs in millionths of a US dollar, of whose prompt so
// many tokens were cached. It is an estimate: what providers add for long
// prompts, for writing to a cache or at certain hours is left out.
func (p Price) Cost(u domain.Usage, cached int) (microdollars int64) {
	cheap := p.Cached
	if cheap == 0 {
		cheap = p.Input
	}
	cached = min(cached, u.PromptTokens)
	// So many tokens at so many dollars a million are as many millionths.
	sum := float64(u.PromptTokens-cached)*p.Input + float64(cached)*cheap + float64(u.CompletionTokens)*p.Output
	return int64(math.Round(sum))
}

// Table has the prices of models. Safe for concurrent use.
type Table struct {
	own   map[string]Price
	known map[string]Price
	kinds map[string]string
}

// New returns the table of the prices that are known, and the user's own, which
// win. The keys of own are "provider/model" as the user names both; a "*" at the
// end stands for any other end. kinds has the registry's name of each configured
// provider that has a name of its own.
func New(own map[string]Price, kinds map[string]string) *Table {
	return &Table{own: normalized(own), known: normalized(known()), kinds: kinds}
}

// Lookup returns the price of a provider's model, and whether it is known. A
// model may have several names, of which the first with a price counts: the one
// that was asked for, the one that the provider says has answered.
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

// Cost is [Price.Cost] of a provider's model. It is not known where the price is
// not.
func (t *Table) Cost(u domain.Usage, cached int, provider string, models ...string) (microdollars int64, known bool) {
	p, known := t.Lookup(provider, models...)
	return p.Cost(u, cached), known
}

// find returns the price of the pattern that says most of name.
func find(prices map[string]Price, name string) (best Price, found bool) {
	longest := 0
	for pattern, p := range prices {
		if n := match(pattern, name); n > longest {
			longest, best, found = n, p, true
		}
	}
	return best, found
}

// version is what may follow a model's name that has a price: a date or so.
var version = regexp.MustCompile(`^-(latest|\d{4}[-\d]*)$`)

// match returns how well pattern fits name, 0 if it does not.
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

// billed returns the name under which a model's price is known: some providers
// charge what the model's vendor does.
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

// normal makes one of the ways in which a model's name is written.
func normal(name string) string { return strings.ReplaceAll(strings.ToLower(name), ".", "-") }

func normalized(prices map[string]Price) map[string]Price {
	out := make(map[string]Price, len(prices))
	for name, p := range prices {
		out[normal(name)] = p
	}
	return out
}
