package markdown

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// HTML returns Markdown of any length as HTML, with headings, lists and tables. HTML within
// it is left out, and so are links that run something.
func HTML(markdown string) string {
	var b strings.Builder
	render := goldmark.New(goldmark.WithExtensions(extension.GFM)).Renderer()
	for _, piece := range Split(markdown, Limit) {
		source := []byte(piece)
		_ = render.Render(&b, source, Parse(source)) // the builder takes everything
	}
	return b.String()
}
