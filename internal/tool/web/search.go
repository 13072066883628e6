package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const searchDescription = `Search the web. Returns count (default 5, at most 20) titles, URLs and snippets; read pages with web_fetch.`

const (
	defaultCount = 5
	maxCount     = 20
	lineLimit    = 1000    // characters of a title, URL or snippet
	answerLimit  = 4 << 20 // bytes
)

// Search configures the services of web_search.
type Search struct {
	Backend    string // brave, tavily, searxng, duckduckgo, or auto (also empty): the first configured one
	Brave      Service
	Tavily     Service
	SearXNG    Service // has no public instance, so it needs a BaseURL
	DuckDuckGo Service // needs no configuration
}

// Service is an account at a search service. Its URL may be private, since the
// operator chose it, not a model.
type Service struct {
	BaseURL string // empty: the service's own
	APIKey  string
}

type searchArgs struct {
	Query string `json:"query"`
	Count int    `json:"count,omitempty"`
}

type searcher struct {
	backend backend
	service Service
	client  *http.Client
	agent   string
	timeout time.Duration
}

func newSearcher(o Options) (searcher, error) {
	s := searcher{agent: o.UserAgent, timeout: o.Timeout, client: &http.Client{CheckRedirect: sameHost}}
	wanted := cmp.Or(o.Search.Backend, "auto")
	var names []string
	for _, b := range backends() {
		service := b.service(o.Search)
		service.BaseURL = strings.TrimRight(cmp.Or(service.BaseURL, b.baseURL), "/")
		lacks := ""
		if service.BaseURL == "" {
			lacks = "base URL"
		} else if b.keyed && service.APIKey == "" {
			lacks = "API key"
		}
		switch {
		case b.name == wanted && lacks != "":
			return searcher{}, fmt.Errorf("web search: %s is selected but not configured: set its %s", b.name, lacks)
		case lacks == "" && (wanted == "auto" || wanted == b.name):
			s.backend, s.service = b, service
			return s, nil
		}
		names = append(names, b.name)
	}
	return searcher{}, fmt.Errorf("web search: unknown backend %q; available: auto, %s", wanted, strings.Join(names, ", "))
}

// sameHost refuses redirects to other hosts, which must not get the service's key.
func sameHost(request *http.Request, via []*http.Request) error {
	if request.URL.Host != via[0].URL.Host || len(via) > redirectLimit {
		return &refusal{"the search service redirects to " + request.URL.Host + "; correct its base URL in the configuration"}
	}
	return nil
}

func (s searcher) search(ctx context.Context, call tool.Call, args searchArgs) (tool.Result, error) {
	query := strings.TrimSpace(args.Query)
	if query == "" {
		return tool.Result{}, errors.New("the query is empty")
	}
	count := min(cmp.Or(max(args.Count, 0), defaultCount), maxCount)
	body, err := s.ask(ctx, query, count)
	if err != nil {
		return tool.Result{}, settle(call, err)
	}
	hits, err := s.backend.parse(body)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", s.backend.name, err)
	}
	if len(hits) == 0 {
		return tool.Result{Text: fmt.Sprintf("%s found nothing for %q", s.backend.name, query)}, nil
	}
	var out strings.Builder
	for i, hit := range hits[:min(len(hits), count)] {
		fmt.Fprintf(&out, "%d. **%s**\n   %s\n", i+1, cmp.Or(oneLine(hit.title), "(no title)"), oneLine(hit.url))
		if snippet := oneLine(hit.snippet); snippet != "" {
			fmt.Fprintf(&out, "   %s\n", snippet)
		}
	}
	return tool.Result{Text: out.String()}, nil
}

func oneLine(s string) string {
	return text.FirstRunes(text.Line(s), lineLimit)
}

// ask sends the query and returns the body of the response.
func (s searcher) ask(ctx context.Context, query string, count int) ([]byte, error) {
	own, cancel := context.WithTimeoutCause(ctx, s.timeout, errTooSlow)
	defer cancel()
	request, err := s.backend.request(own, s.service, query, count)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.backend.name, err)
	}
	request.Header.Set("User-Agent", s.agent)
	response, err := s.client.Do(request)
	if err != nil {
		return nil, unanswered(ctx, own, s.backend.name, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	if err != nil {
		return nil, unanswered(ctx, own, s.backend.name, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, remote.Rejected(s.backend.name, response, text.FirstRunes(plain(string(body)), lineLimit))
	}
	return body, nil
}

// unreadable returns the error of a response in an unexpected format.
func unreadable(err error) error {
	return fmt.Errorf("unexpected response; check the base URL: %w", err)
}
