package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// backend is a search service.
type backend struct {
	name    string
	baseURL string // default; empty: it must be configured
	keyed   bool   // it needs an API key
	service func(Search) Service
	request func(ctx context.Context, s Service, query string, count int) (*http.Request, error)
	parse   func(body []byte) ([]hit, error)
}

// hit is a search result in plain text.
type hit struct {
	title   string
	url     string
	snippet string
}

// backends lists the services in the order of preference of auto.
func backends() []backend {
	return []backend{
		{"brave", "https://api.search.brave.com", true, func(s Search) Service { return s.Brave }, askBrave, parseBrave},
		{"tavily", "https://api.tavily.com", true, func(s Search) Service { return s.Tavily }, askTavily, parseResults},
		{"searxng", "", false, func(s Search) Service { return s.SearXNG }, askSearXNG, parseResults},
		{"duckduckgo", "https://html.duckduckgo.com", false, func(s Search) Service { return s.DuckDuckGo }, askDuckDuckGo, parseDuckDuckGo},
	}
}

func get(ctx context.Context, endpoint string, query url.Values) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"?"+query.Encode(), nil)
}

func askBrave(ctx context.Context, s Service, query string, count int) (*http.Request, error) {
	request, err := get(ctx, s.BaseURL+"/res/v1/web/search", url.Values{"q": {query}, "count": {strconv.Itoa(count)}})
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("X-Subscription-Token", s.APIKey)
	return request, nil
}

func parseBrave(body []byte) ([]hit, error) {
	var answer struct {
		Web struct {
			Results []struct{ Title, URL, Description string }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, unreadable(err)
	}
	var hits []hit
	for _, r := range answer.Web.Results {
		hits = append(hits, hit{title: plain(r.Title), url: r.URL, snippet: plain(r.Description)})
	}
	return hits, nil
}

func askTavily(ctx context.Context, s Service, query string, count int) (*http.Request, error) {
	body, err := json.Marshal(map[string]any{"query": query, "max_results": count})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL+"/search", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.APIKey)
	return request, nil
}

func askSearXNG(ctx context.Context, s Service, query string, _ int) (*http.Request, error) {
	return get(ctx, s.BaseURL+"/search", url.Values{"q": {query}, "format": {"json"}})
}

// parseResults parses the answers of Tavily and SearXNG, which have the same format.
func parseResults(body []byte) ([]hit, error) {
	var answer struct {
		Results []struct{ Title, URL, Content string }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, unreadable(err)
	}
	var hits []hit
	for _, r := range answer.Results {
		hits = append(hits, hit{title: r.Title, url: r.URL, snippet: r.Content})
	}
	return hits, nil
}
