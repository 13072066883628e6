package openai

import (
	"context"
	"fmt"

	"github.com/sashabaranov/go-openai"
)

// Models lists the models that the server at baseURL, which wants no key, serves.
func Models(ctx context.Context, baseURL string) ([]string, error) {
	config := openai.DefaultConfig("")
	config.BaseURL = baseURL
	list, err := openai.NewClientWithConfig(config).ListModels(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the models at %s: %w", baseURL, err)
	}
	names := make([]string, len(list.Models))
	for i, model := range list.Models {
		names[i] = model.ID
	}
	return names, nil
}
