package web

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// Selectors for DuckDuckGo's page for browsers without scripts.
var (
	resultSelector    = cascadia.MustCompile(".result:not(.result--ad)")
	linkSelector      = cascadia.MustCompile("a.result__a")
	snippetSelector   = cascadia.MustCompile(".result__snippet")
	challengeSelector = cascadia.MustCompile(".anomaly-modal__title, #challenge-form")
)

func askDuckDuckGo(ctx context.Context, s Service, query string, _ int) (*http.Request, error) {
	return get(ctx, s.BaseURL+"/html/", url.Values{"q": {query}})
}

func parseDuckDuckGo(body []byte) ([]hit, error) {
	page, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, unreadable(err)
	}
	if cascadia.Query(page, challengeSelector) != nil {
		return nil, errors.New("the service refused an automated search; tell the user to configure another search service")
	}
	var hits []hit
	for _, result := range cascadia.QueryAll(page, resultSelector) {
		link := cascadia.Query(result, linkSelector)
		if link == nil {
			continue
		}
		found := hit{title: textOf(link), url: target(link)}
		if snippet := cascadia.Query(result, snippetSelector); snippet != nil {
			found.snippet = textOf(snippet)
		}
		hits = append(hits, found)
	}
	return hits, nil
}

// target returns the destination of a link. Most links are redirects of DuckDuckGo
// with the URL in the query.
func target(link *html.Node) string {
	for _, attribute := range link.Attr {
		if attribute.Key != "href" {
			continue
		}
		u, err := url.Parse(attribute.Val)
		if err != nil {
			return attribute.Val
		}
		if direct := u.Query().Get("uddg"); direct != "" {
			return direct
		}
		return attribute.Val
	}
	return ""
}

func textOf(n *html.Node) string {
	var out strings.Builder
	for node := range n.Descendants() {
		if node.Type == html.TextNode {
			out.WriteString(node.Data)
		}
	}
	return out.String()
}
