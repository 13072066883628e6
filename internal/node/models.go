package node

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/metrics"
)

// models opens the models that sessions were switched to, on first use. It is safe for
// concurrent use.
type models struct {
	cfg     config.Config
	log     *slog.Logger
	metrics *metrics.Metrics

	mu     sync.Mutex
	opened map[string]Model
}

// open returns the model named provider/model. The provider must be configured, or a
// gateway that accepts the name.
func (m *models) open(name string) (activities.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, there := m.opened[name]
	if !there {
		var err error
		if found, err = m.openNew(name); err != nil {
			return activities.Model{}, err
		}
		if m.opened == nil {
			m.opened = map[string]Model{}
		}
		m.opened[name] = found
	}
	return found.Model, nil
}

func (m *models) openNew(name string) (Model, error) {
	if err := m.check(name); err != nil {
		return Model{}, err
	}
	cfg := m.cfg
	cfg.Model = name
	cfg.Fallbacks = slices.DeleteFunc(slices.Clone(cfg.Fallbacks), func(other string) bool { return strings.EqualFold(other, name) })
	return OpenModel(context.Background(), cfg, m.log, m.metrics)
}

// check rejects names that would resolve to a model of any configured provider.
func (m *models) check(name string) error {
	if name == DemoModel+"/"+DemoModel {
		return nil
	}
	choice, err := llm.Choose(name, Configured(m.cfg))
	if err != nil {
		return err
	}
	provider, rest, _ := strings.Cut(name, "/")
	if provider == "" || rest == "" {
		return fmt.Errorf("%q is not of the form provider/model", name)
	}
	if !strings.EqualFold(provider, choice.Name) && !choice.Provider.Gateway {
		return fmt.Errorf("provider %s is not configured; name the model as provider/model", provider)
	}
	return nil
}

// close closes the open models.
func (m *models) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, opened := range m.opened {
		opened.Close()
	}
	m.opened = nil
}
