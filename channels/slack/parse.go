package slack

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

// Whoever can have the model say something can have it say what takes long to
// parse: emphasis and links take time that grows with the square of a text's length,
// and quotes and lists with that of their depth. A table of n characters has up to
// n²/8 cells.
const (
	parseLimit = 12_000 // characters that are parsed as one text
	depthMost  = 50     // quotes and lists within each other
	cellsMost  = 5_000  // of a table
)

// tooLong reports whether a text has more characters than are parsed as one.
func tooLong(markdown string) bool { return utf8.RuneCountInString(markdown) > parseLimit }

// parsed is a text, not too long, in the Markdown that models write.
func parsed(source []byte) ast.Node {
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

// outlined is a text of any length, of which only the blocks are known.
func outlined(source []byte) ast.Node {
	return parser.NewParser(parser.WithBlockParsers(blockParsers()...)).Parse(text.NewReader(source))
}

// blockParsers are those of Markdown. What is too deep is taken for text.
func blockParsers() []util.PrioritizedValue {
	all := parser.DefaultBlockParsers()
	for i, p := range all {
		if p.Value == parser.NewListParser() || p.Value == parser.NewBlockquoteParser() {
			all[i].Value = shallow{p.Value.(parser.BlockParser)}
		}
	}
	return all
}

// shallow is a parser of blocks that may be within each other, but not without end.
type shallow struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (s shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if depth++; depth > depthMost {
			return nil, parser.NoChildren
		}
	}
	return s.BlockParser.Open(parent, reader, pc)
}

// smallTables makes tables of paragraphs, unless they have too many cells.
type smallTables struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (s smallTables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	columns := 0
	for _, line := range node.Lines().Sliced(0, node.Lines().Len()) {
		columns = max(columns, bytes.Count(line.Value(reader.Source()), []byte{'|'}))
	}
	if columns*node.Lines().Len() <= cellsMost {
		s.ParagraphTransformer.Transform(node, reader, pc)
	}
}
