package web

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"github.com/go-shiori/go-readability"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/holdfast-ai/holdfast/internal/text"
)

// elementLimit is the size of a page, in elements, above which it is converted as a
// whole instead of extracting the main content.
const elementLimit = 50_000

// document is a fetched document.
type document struct {
	url         *url.URL
	contentType string
	body        []byte
}

// readable returns the document's title, if any, and its text for a model. With raw,
// HTML is not converted.
func (d document) readable(ctx context.Context, raw bool) (title, text string) {
	if len(d.body) == 0 {
		return "", "(the document is empty)"
	}
	if d.contentType == "" {
		d.contentType = http.DetectContentType(d.body)
	}
	media, _, err := mime.ParseMediaType(d.contentType)
	if err != nil {
		media = "application/octet-stream"
	}
	described := fmt.Sprintf("(%s, %d bytes, not shown as text)", media, len(d.body))
	if !textual(media) {
		return "", described
	}
	text = decode(d.body, d.contentType)
	switch {
	case strings.ContainsRune(text, 0):
		return "", described
	case raw, media != "text/html" && media != "application/xhtml+xml":
		return "", text
	}
	return d.markdown(ctx, text)
}

func textual(media string) bool {
	switch media {
	case "application/json", "application/xml", "application/javascript", "application/yaml", "application/x-yaml",
		"application/toml", "application/x-ndjson", "application/jsonl", "application/sql", "application/x-sh":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml") || strings.HasSuffix(media, "+yaml")
}

// decode converts text of any character set to UTF-8.
func decode(body []byte, contentType string) string {
	encoding, name, certain := charset.DetermineEncoding(body, contentType)
	// windows-1252 is also the guess if nothing is known.
	if name == "windows-1252" && !certain && utf8.Valid(text.WholeRunes(body)) {
		name = "utf-8"
	}
	if name != "utf-8" {
		if decoded, err := encoding.NewDecoder().Bytes(body); err == nil {
			body = decoded
		}
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(text.WholeRunes(body)), "\uFFFD"), "\uFEFF")
}

// markdown returns the title and the main content of a page, or all of it if the main
// content cannot be determined.
func (d document) markdown(ctx context.Context, page string) (title, content string) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", plain(page)
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse = elementLimit
	article, err := parser.ParseDocument(root, d.url)
	body := article.Node
	if err != nil || body == nil || strings.TrimSpace(article.TextContent) == "" {
		body = root
	}
	title = text.Line(article.Title)
	convert := converter.NewConverter(
		converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()),
		// Models need no escapes, and escaping takes quadratic time.
		converter.WithEscapeMode(converter.EscapeModeDisabled),
	)
	origin := d.url.Scheme + "://" + d.url.Host
	markdown, err := convert.ConvertNode(body, converter.WithContext(ctx), converter.WithDomain(origin))
	if markdown = bytes.TrimSpace(markdown); err != nil || len(markdown) == 0 {
		return title, plain(page)
	}
	return title, string(markdown)
}

// plain returns the text of HTML without markup.
func plain(source string) string {
	tokens := html.NewTokenizer(strings.NewReader(source))
	var out strings.Builder
	skip := ""
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return text.Line(out.String())
		case html.StartTagToken:
			if name, _ := tokens.TagName(); string(name) == "script" || string(name) == "style" {
				skip = string(name)
			}
		case html.EndTagToken:
			if name, _ := tokens.TagName(); string(name) == skip {
				skip = ""
			}
		case html.TextToken:
			if skip == "" {
				out.Write(tokens.Text())
			}
		case html.SelfClosingTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
}
