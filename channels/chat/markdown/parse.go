// Package markdown parses, splits and rewrites the Markdown that models write. Time and
// memory are bounded for any text: a model can be made to write what is slow to parse.
package markdown

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Limit is how many characters are parsed as one text. Emphasis and links take time that
// grows with the square of a text's length.
const Limit = 12_000

const (
	maxDepth = 50    // of quotes and lists within each other, for which the same is true
	maxCells = 5_000 // of a table: n characters make up to n²/8
)

// TooLong reports whether a text has more characters than [Limit].
func TooLong(markdown string) bool { return utf8.RuneCountInString(markdown) > Limit }

// Parse parses a text that is not [TooLong] as GitHub Flavored Markdown.
func Parse(source []byte) ast.Node {
	gfm := goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(blockParsers()...),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
			parser.WithParagraphTransformers(util.Prioritized(smallTables{extension.NewTableParagraphTransformer()}, 200)),
			parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
		)),
		goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList),
	)
	return gfm.Parser().Parse(text.NewReader(source))
}

// Outline parses only the blocks of a text, of any length.
func Outline(source []byte) ast.Node {
	return parser.NewParser(parser.WithBlockParsers(blockParsers()...)).Parse(text.NewReader(source))
}

// blockParsers returns Markdown's block parsers, which take what is nested too deep for text.
func blockParsers() []util.PrioritizedValue {
	all := parser.DefaultBlockParsers()
	for i, p := range all {
		if p.Value == parser.NewListParser() || p.Value == parser.NewBlockquoteParser() {
			all[i].Value = shallow{p.Value.(parser.BlockParser)}
		}
	}
	return all
}

// shallow bounds how deep a block parser nests.
type shallow struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (s shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if depth++; depth > maxDepth {
			return nil, parser.NoChildren
		}
	}
	return s.BlockParser.Open(parent, reader, pc)
}

// smallTables turns paragraphs into tables, unless they have too many cells.
type smallTables struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (s smallTables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	columns := 0
	for _, line := range node.Lines().Sliced(0, node.Lines().Len()) {
		columns = max(columns, bytes.Count(line.Value(reader.Source()), []byte{'|'}))
	}
	if columns*node.Lines().Len() <= maxCells {
		s.ParagraphTransformer.Transform(node, reader, pc)
	}
}
