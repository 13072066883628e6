package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/demo"
	"github.com/holdfast-ai/holdfast/internal/llm/fallback"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/llm/price"
	"github.com/holdfast-ai/holdfast/internal/metrics"
)

// DemoModel is the name of the built-in demo model.
const DemoModel = "demo"

// Model is an open model.
type Model struct {
	activities.Model
	Close func()
}

// ChooseModel returns the configured model. Without one it returns the first provider
// with a key, else a local Ollama, else the demo model.
func ChooseModel(ctx context.Context, cfg config.Config) (llm.Choice, error) {
	if cfg.Model == DemoModel || cfg.Model == DemoModel+"/"+DemoModel {
		return llm.Choice{}, nil
	}
	choice, err := llm.Choose(cfg.Model, Configured(cfg))
	if errors.Is(err, llm.ErrNoProvider) && cfg.Model == "" {
		if choice, found := localOllama(ctx); found {
			return choice, nil
		}
		return llm.Choice{}, nil
	}
	return choice, err
}

// IsDemo reports whether [ChooseModel] chose the demo model, which has no provider.
func IsDemo(c llm.Choice) bool { return c.BaseURL == "" }

// OpenModel opens the model of [ChooseModel] with its fallbacks. m counts its calls.
func OpenModel(ctx context.Context, cfg config.Config, log *slog.Logger, m *metrics.Metrics) (Model, error) {
	choice, err := ChooseModel(ctx, cfg)
	if err != nil {
		return Model{}, fmt.Errorf("choose a model: %w", err)
	}
	if IsDemo(choice) {
		return openDemo(m), nil
	}
	first, err := OpenChoice(choice, cfg, m)
	if err != nil || len(cfg.Fallbacks) == 0 {
		return first, err
	}
	return withFallbacks(first, cfg, log, m)
}

// withFallbacks returns first with the configured fallbacks.
func withFallbacks(first Model, cfg config.Config, log *slog.Logger, m *metrics.Metrics) (Model, error) {
	models := []Model{first}
	closeAll := func() {
		for _, m := range models {
			m.Close()
		}
	}
	for _, name := range cfg.Fallbacks {
		choice, err := llm.Choose(name, Configured(cfg))
		if err != nil {
			closeAll()
			return Model{}, fmt.Errorf("choose the fallback %s: %w", name, err)
		}
		opened, err := OpenChoice(choice, cfg, m)
		if err != nil {
			closeAll()
			return Model{}, fmt.Errorf("fallback %s: %w", name, err)
		}
		models = append(models, opened)
	}
	candidates := make([]fallback.Candidate, len(models))
	for i, m := range models {
		candidates[i] = fallback.Candidate{Name: m.Title(), Provider: m.Provider, Model: m.Name}
	}
	provider, err := fallback.New(candidates, log)
	if err != nil {
		closeAll()
		return Model{}, fmt.Errorf("open the fallbacks: %w", err)
	}
	first.Provider, first.Close = provider, closeAll
	return first, nil
}

// prices returns the known and the configured prices.
func prices(cfg config.Config) *price.Table {
	own := make(map[string]price.Price, len(cfg.Prices))
	for name, p := range cfg.Prices {
		own[name] = price.Price{Input: p.Input, Cached: p.Cached, Output: p.Output}
	}
	kinds := make(map[string]string, len(cfg.Providers))
	for name, p := range cfg.Providers {
		if p.Kind != "" {
			kinds[name] = p.Kind
		}
	}
	return price.New(own, kinds)
}

// Configured returns the providers of cfg, sorted by name, with their keys revealed.
func Configured(cfg config.Config) []llm.Configured {
	list := make([]llm.Configured, 0, len(cfg.Providers))
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		p := cfg.Providers[name]
		list = append(list, llm.Configured{
			Name: name, Kind: p.Kind, BaseURL: p.BaseURL, APIKey: p.APIKey.Reveal(), Timeout: p.Timeout,
		})
	}
	return list
}

// OpenChoice returns the client of a chosen provider and model.
func OpenChoice(choice llm.Choice, cfg config.Config, m *metrics.Metrics) (Model, error) {
	options := openai.OptionsFor(choice)
	settings := cfg.Provider(choice.Name)
	options.NoStream = settings.NoStream
	if len(settings.Headers) > 0 {
		options.HTTPClient = &http.Client{Transport: withHeaders{http.DefaultTransport, settings.Headers}}
	}
	client, err := openai.New(options)
	if err != nil {
		return Model{}, fmt.Errorf("open the model provider: %w", err)
	}
	counted := m.Provider(client, choice.Name, choice.Model, prices(cfg))
	opened := activities.Model{Provider: counted, Service: choice.Name, Name: choice.Model}
	return Model{Model: opened, Close: client.Close}, nil
}

func openDemo(m *metrics.Metrics) Model {
	counted := m.Provider(demo.Provider{}, DemoModel, DemoModel, price.New(nil, nil))
	return Model{Model: activities.Model{Provider: counted, Service: DemoModel, Name: DemoModel}, Close: func() {}}
}

// ollamaTimeout bounds the search for a local Ollama.
const ollamaTimeout = 300 * time.Millisecond

// localOllama returns the first model of an Ollama running on this machine.
func localOllama(ctx context.Context) (llm.Choice, bool) {
	choice, err := llm.Choose("ollama/any", []llm.Configured{{Name: "ollama"}})
	if err != nil {
		return llm.Choice{}, false
	}
	client, err := openai.New(openai.OptionsFor(choice))
	if err != nil {
		return llm.Choice{}, false
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, ollamaTimeout)
	defer cancel()
	models, err := client.Models(ctx)
	if err != nil || len(models) == 0 {
		return llm.Choice{}, false
	}
	choice.Model = models[0]
	return choice, true
}

// withHeaders adds headers to every request.
type withHeaders struct {
	next    http.RoundTripper
	headers map[string]config.Secret
}

// RoundTrip implements [http.RoundTripper].
func (t withHeaders) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	for name, value := range t.headers {
		request.Header.Set(name, value.Reveal())
	}
	return t.next.RoundTrip(request)
}
