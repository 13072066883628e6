package markdown

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	nodes "github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// HTML returns Markdown of any length as HTML, with headings, lists, tables and the line
// breaks of the text. HTML within it is shown as text, a picture is a link to it, and links
// that run something lead nowhere.
func HTML(markdown string) string {
	var b strings.Builder
	render := goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(html.WithHardWraps(), nodes.WithNodeRenderers(util.Prioritized(harmless{}, 1))),
	).Renderer()
	for _, piece := range Split(markdown, Limit) {
		source := []byte(piece)
		_ = render.Render(&b, source, Parse(source)) // the builder takes everything
	}
	return b.String()
}

// harmless renders what would not be shown as it was written, or load something.
type harmless struct{}

// RegisterFuncs implements [nodes.NodeRenderer].
func (harmless) RegisterFuncs(r nodes.NodeRendererFuncRegisterer) {
	show := func(kind ast.NodeKind, text func(n ast.Node, source []byte) string) {
		r.Register(kind, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering {
				_, _ = w.WriteString(text(n, source)) // reported when it is flushed
			}
			return ast.WalkSkipChildren, nil
		})
	}
	show(ast.KindRawHTML, func(n ast.Node, source []byte) string {
		text, _ := Literal(n, source)
		return escaped(text)
	})
	show(ast.KindHTMLBlock, func(n ast.Node, source []byte) string {
		block, _ := n.(*ast.HTMLBlock)
		text := string(n.Lines().Value(source))
		if block.HasClosure() {
			text += string(block.ClosureLine.Value(source))
		}
		return "<p>" + strings.ReplaceAll(escaped(strings.TrimRight(text, "\n")), "\n", "<br>\n") + "</p>\n"
	})
	show(extast.KindTaskCheckBox, func(n ast.Node, _ []byte) string {
		box, _ := n.(*extast.TaskCheckBox)
		return Box(box.IsChecked)
	})
	show(ast.KindImage, func(n ast.Node, source []byte) string {
		image, _ := n.(*ast.Image)
		label := escaped(PlainText(n, source))
		if html.IsDangerousURL(image.Destination) {
			return label
		}
		return `<a href="` + escaped(string(util.URLEscape(image.Destination, true))) + `">` + label + "</a>"
	})
}

func escaped(text string) string { return string(util.EscapeHTML([]byte(text))) }
