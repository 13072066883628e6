package doctor

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// modelTimeout bounds a call to a provider.
const modelTimeout = 5 * time.Second

// checkModel reports which model is used and why, and lists the models of its provider,
// which is free.
func (d *doctor) checkModel(ctx context.Context) {
	choice, err := node.ChooseModel(ctx, d.cfg)
	if err != nil {
		d.fail("model", "set model to provider/model of a provider with a key", "%v", err)
		return
	}
	why := "chosen by the setting model"
	switch {
	case node.IsDemo(choice) && d.cfg.Model == "":
		d.warn("model", "set OPENAI_API_KEY, ANTHROPIC_API_KEY or another provider's key in the environment or under providers in the config, or start Ollama",
			"using the built-in demo, which is not a language model: no provider has a key, and Ollama is not running here")
		return
	case node.IsDemo(choice):
		d.ok("model", "the built-in demo, %s", why)
		return
	case d.cfg.Model == "" && choice.APIKey == "":
		why = "no provider has a key; this is the first model of the local Ollama"
	case d.cfg.Model == "":
		why = "the first provider with a key; change it with the setting model"
	}
	d.ok("model", "%s/%s, %s", choice.Name, choice.Model, why)
	d.askProvider(ctx, choice)
}

// checkFallbacks checks the fallback models.
func (d *doctor) checkFallbacks(ctx context.Context) {
	for _, name := range d.cfg.Fallbacks {
		choice, err := llm.Choose(name, node.Configured(d.cfg))
		if err != nil {
			d.fail("fallback", "correct fallbacks, or set a key for the provider of "+name, "%v", err)
			continue
		}
		d.ok("fallback", "%s/%s", choice.Name, choice.Model)
		d.askProvider(ctx, choice)
	}
}

func (d *doctor) askProvider(ctx context.Context, choice llm.Choice) {
	key := "providers." + choice.Name
	names, err := listModels(ctx, d.cfg, choice)
	said := remote.As(err)
	switch {
	case err == nil && !lists(names, choice.Model):
		d.warn("provider", "if calls fail, set model to a listed one, such as "+strings.Join(names[:min(3, len(names))], ", "),
			"%s answers, but %s is not among its %d models", choice.BaseURL, choice.Model, len(names))
	case err == nil:
		d.ok("provider", "%s answers", choice.BaseURL)
	case said != nil && (said.Status == http.StatusUnauthorized || said.Status == http.StatusForbidden) && choice.APIKey == "":
		d.fail("provider", "set "+keyNames(choice), "%s requires a key: %v", choice.BaseURL, said)
	case said != nil && (said.Status == http.StatusUnauthorized || said.Status == http.StatusForbidden):
		d.fail("provider", "correct "+keyNames(choice), "%s rejects the key: %v", choice.BaseURL, said)
	case said != nil && said.Status == http.StatusTooManyRequests:
		d.warn("provider", "wait, or request a higher limit from the provider", "%s answers: too many requests: %v", choice.BaseURL, said)
	case said != nil && said.Permanent() && said.Err != nil && said.Status != http.StatusBadRequest:
		d.warn("provider", "if calls fail, check "+key+".base_url", "%s answers, but has no list of models, so the key was not checked: %v", choice.BaseURL, said)
	default:
		d.fail("provider", "check "+key+".base_url, the network and any proxy (HTTPS_PROXY)", "%s does not answer as expected: %v", choice.BaseURL, err)
	}
}

// listModels lists the models of a provider. Anthropic needs its own headers.
func listModels(ctx context.Context, cfg config.Config, choice llm.Choice) ([]string, error) {
	if choice.Provider.Name == "anthropic" && choice.APIKey != "" {
		settings := cfg.Provider(choice.Name)
		settings.Headers = maps.Clone(settings.Headers)
		if settings.Headers == nil {
			settings.Headers = map[string]config.Secret{}
		}
		settings.Headers["X-Api-Key"] = config.Secret(choice.APIKey)
		settings.Headers["Anthropic-Version"] = "2023-06-01"
		cfg.Providers = maps.Clone(cfg.Providers)
		cfg.Providers[choice.Name] = settings
	}
	choice.Timeout = modelTimeout
	opened, err := node.OpenChoice(choice, cfg, nil)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	lister, ok := opened.Provider.(interface {
		Models(ctx context.Context) ([]string, error)
	})
	if !ok {
		return nil, fmt.Errorf("%s has no list of models", choice.Name)
	}
	return lister.Models(ctx)
}

// lists reports whether names contain model, possibly with a prefix such as "models/"
// or a tag.
func lists(names []string, model string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name == model || strings.HasSuffix(name, "/"+model) || strings.HasPrefix(name, model+":")
	})
}

// keyNames returns where a provider's key can be set.
func keyNames(choice llm.Choice) string {
	setting := "providers." + choice.Name + ".api_key"
	if choice.Provider.Name == choice.Name && choice.Provider.KeyEnv != "" {
		return choice.Provider.KeyEnv + " or " + setting
	}
	return setting
}
