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
	"unicode/utf8"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const fetchDescription = `Fetch a public http(s) page as Markdown or raw HTML, max_chars (default 50000) at most. Text and JSON
are unchanged.`

const (
	bodyLimit    = 5 << 20 // bytes
	defaultChars = 50_000
	maxChars     = 500_000
)

type fetchArgs struct {
	URL      string `json:"url"`
	MaxChars int    `json:"max_chars,omitempty"`
	Raw      bool   `json:"raw,omitempty"`
}

type fetcher struct {
	client  *http.Client
	agent   string
	timeout time.Duration
}

func (f fetcher) fetch(ctx context.Context, call tool.Call, args fetchArgs) (tool.Result, error) {
	u, err := parseURL(strings.TrimSpace(args.URL))
	if err != nil {
		return tool.Result{}, err
	}
	own, cancel := context.WithTimeoutCause(ctx, f.timeout, errTooSlow)
	defer cancel()
	request, err := http.NewRequestWithContext(own, http.MethodGet, u.String(), nil)
	if err != nil {
		return tool.Result{}, fmt.Errorf("invalid URL: %w", err)
	}
	request.Header.Set("User-Agent", f.agent)
	request.Header.Set("Accept", "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5")
	response, err := f.client.Do(request)
	if err != nil {
		return tool.Result{}, settle(call, unanswered(ctx, own, u.Host, err))
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return tool.Result{}, settle(call, remote.Rejected(response.Request.URL.Host, response, ""))
	}
	d := document{url: response.Request.URL, contentType: response.Header.Get("Content-Type")}
	var notes []string
	d.body, err = io.ReadAll(io.LimitReader(response.Body, bodyLimit+1))
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case len(d.body) > bodyLimit:
		d.body = d.body[:bodyLimit]
		notes = append(notes, fmt.Sprintf("the document is larger than %d MB and was truncated", bodyLimit>>20))
	case errors.Is(context.Cause(own), errTooSlow):
		notes = append(notes, fmt.Sprintf("the document was not complete after %s; this is the part received", f.timeout))
	case err != nil:
		return tool.Result{}, settle(call, unanswered(ctx, own, u.Host, err))
	}

	title, content := d.readable(ctx, args.Raw)
	if short := text.FirstRunes(content, min(cmp.Or(max(args.MaxChars, 0), defaultChars), maxChars)); len(short) < len(content) {
		notes = append(notes, fmt.Sprintf("only the first %d characters are shown; set max_chars for more", utf8.RuneCountInString(short)))
		content = short
	}
	var out strings.Builder
	if title != "" {
		fmt.Fprintf(&out, "Title: %s\n", title)
	}
	fmt.Fprintf(&out, "URL: %s\n", d.url)
	for _, note := range notes {
		fmt.Fprintf(&out, "Note: %s\n", note)
	}
	fmt.Fprintf(&out, "\n%s", content)
	return tool.Result{Text: out.String()}, nil
}
