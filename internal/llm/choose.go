package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Configured is a provider that the user set up, in the config or by its
// environment variable.
type Configured struct {
	Name    string        // the user's name for it, or a registry name
	Kind    string        // registry name; empty: derived from Name, key or base URL, else custom
	BaseURL string        // empty: the registry's
	APIKey  string        // may be empty for local and self-hosted providers
	Timeout time.Duration // 0: the client's default
}

// hasKeyOf reports whether the key is one of a gateway.
func (c Configured) hasKeyOf(p ProviderRow) bool {
	return p.KeyPrefix != "" && strings.HasPrefix(c.APIKey, p.KeyPrefix)
}

// hasURLOf reports whether the base URL is that of a gateway.
func (c Configured) hasURLOf(p ProviderRow) bool {
	return p.BaseURLKeyword != "" && strings.Contains(c.BaseURL, p.BaseURLKeyword)
}

// Choice is the provider that serves a model.
type Choice struct {
	Configured             // BaseURL is set
	Provider   ProviderRow // its row of the registry
	Model      string      // the provider's name for it
}

// candidate is a configured provider with its row of the registry.
type candidate struct {
	Configured
	row  ProviderRow
	rank int
}

// usable reports whether calls can be made.
func (c candidate) usable() bool { return c.complete() || c.row.Local }

// complete reports whether its configuration is complete. A local provider is usable
// without one, but then only by name.
func (c candidate) complete() bool { return c.url() != "" && (c.APIKey != "" || c.BaseURL != "") }

func (c candidate) url() string {
	return cmp.Or(c.BaseURL, c.row.BaseURL)
}

func (c candidate) choice(model string) Choice {
	c.BaseURL = c.url()
	return Choice{Configured: c.Configured, Provider: c.row, Model: c.row.modelName(model)}
}

// Choose returns the provider for model, in this order: the one named before its
// first slash; a gateway recognized by its key, then by its base URL; the one whose
// models have similar names; the only configured one. An empty model is the default
// model of the first provider with a key. If no provider fits, the error wraps
// [ErrNoProvider] and says what to do.
func Choose(model string, configured []Configured) (Choice, error) {
	all, err := candidates(configured)
	if err != nil {
		return Choice{}, err
	}
	if model == "" {
		return firstWithKey(all)
	}
	if name, rest, found := strings.Cut(model, "/"); found {
		if choice, ok, err := named(name, rest, model, all); ok || err != nil {
			return choice, err
		}
	}
	complete := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !c.complete() })
	for _, fits := range []func(candidate) bool{
		func(c candidate) bool { return c.hasKeyOf(c.row) },
		func(c candidate) bool { return c.hasURLOf(c.row) },
		func(c candidate) bool { return c.row.knows(model) },
	} {
		if i := slices.IndexFunc(complete, fits); i >= 0 {
			return complete[i].choice(model), nil
		}
	}
	if len(complete) == 1 {
		return complete[0].choice(model), nil
	}
	return Choice{}, unserved(model, complete)
}

// named chooses by the provider's name before the model. ok is false if name is not
// a provider.
func named(name, rest, model string, all []candidate) (choice Choice, ok bool, err error) {
	i := slices.IndexFunc(all, func(c candidate) bool { return strings.EqualFold(c.Name, name) })
	if i >= 0 && all[i].usable() {
		return all[i].choice(rest), true, nil
	}
	row, known := Lookup(strings.ToLower(name))
	switch {
	case i >= 0:
		return Choice{}, false, unusable(all[i])
	case !known:
		return Choice{}, false, nil
	case row.Local:
		return candidate{Configured: Configured{Name: row.Name}, row: row}.choice(rest), true, nil
	}
	if i := slices.IndexFunc(all, func(c candidate) bool { return c.complete() && c.row.Gateway }); i >= 0 {
		return all[i].choice(model), true, nil
	}
	return Choice{}, false, unusable(candidate{Configured: Configured{Name: row.Name}, row: row})
}

func firstWithKey(all []candidate) (Choice, error) {
	for _, c := range all {
		if c.complete() && c.APIKey != "" && c.row.DefaultModel != "" {
			return c.choice(c.row.DefaultModel), nil
		}
	}
	return Choice{}, fmt.Errorf("%w with a key and a default model: set OPENAI_API_KEY, ANTHROPIC_API_KEY, OPENROUTER_API_KEY or another provider's key, or name a model as provider/model", ErrNoProvider)
}

// candidates returns the configured providers in the registry's order.
func candidates(configured []Configured) ([]candidate, error) {
	rows := Registry()
	all := make([]candidate, 0, len(configured))
	for _, c := range configured {
		rank := rankOf(c, rows)
		if rank < 0 {
			return nil, fmt.Errorf("provider %s has the unknown kind %q; use one of %s", c.Name, c.Kind, strings.Join(names(rows), ", "))
		}
		all = append(all, candidate{Configured: c, row: rows[rank], rank: rank})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.rank - b.rank })
	return all, nil
}

// rankOf returns the index of c's row, -1 if its kind is unknown.
func rankOf(c Configured, rows []ProviderRow) int {
	if c.Kind != "" {
		return slices.IndexFunc(rows, func(p ProviderRow) bool { return p.Name == strings.ToLower(c.Kind) })
	}
	for _, fits := range []func(ProviderRow) bool{
		func(p ProviderRow) bool { return p.Name == strings.ToLower(c.Name) },
		c.hasKeyOf, c.hasURLOf,
		func(p ProviderRow) bool { return p.Name == "custom" },
	} {
		if i := slices.IndexFunc(rows, fits); i >= 0 {
			return i
		}
	}
	return -1
}

// unusable returns an error that names the provider's missing settings.
func unusable(c candidate) error {
	switch {
	case c.url() == "":
		return fmt.Errorf("%w: %s needs a base URL: set providers.%s.base_url", ErrNoProvider, c.Name, c.Name)
	case c.row.Name == c.Name && c.row.KeyEnv != "":
		return fmt.Errorf("%w: %s has no key: set %s or providers.%s.api_key", ErrNoProvider, c.Name, c.row.KeyEnv, c.Name)
	}
	return fmt.Errorf("%w: %s has no key: set providers.%s.api_key", ErrNoProvider, c.Name, c.Name)
}

// unserved returns an error that says how to get model served.
func unserved(model string, complete []candidate) error {
	for _, row := range Registry() {
		if row.KeyEnv != "" && row.knows(model) {
			return fmt.Errorf("%w for model %q: set %s, or name another as provider/model", ErrNoProvider, model, row.KeyEnv)
		}
	}
	if len(complete) == 0 {
		return fmt.Errorf("%w for model %q: set a provider's key or base URL, and name the model as provider/model", ErrNoProvider, model)
	}
	configured := make([]string, len(complete))
	for i, c := range complete {
		configured[i] = c.Name
	}
	return fmt.Errorf("%w for model %q: name it as provider/model; configured are %s", ErrNoProvider, model, strings.Join(configured, ", "))
}

func names(rows []ProviderRow) []string {
	out := make([]string, len(rows))
	for i, p := range rows {
		out[i] = p.Name
	}
	slices.Sort(out)
	return out
}
