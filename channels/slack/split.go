package slack

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	partLimit = 3800 // characters of a part, which grow when they are rendered
	partLeast = 200  // of parts that have to be smaller for that
	codeLimit = 3000 // characters of code that is not sent as a file
	codeMost  = 60   // lines of it
)

// Split implements [channels.Splitter]: parts fit into one message each, and long
// code is a file.
func (*platform) Split(markdown string) []domain.Part {
	if strings.TrimSpace(markdown) == "" {
		return nil
	}
	snippets := snippetsIn(markdown)
	if len(snippets) == 0 && fits(markdown, partLimit) {
		return []domain.Part{{Text: markdown}}
	}
	var p parts
	p.add(markdown, snippets, func(between string) {
		for _, piece := range channels.Split(between, parseLimit) {
			drawn := rewrite(piece, true, unchanged, unchanged)
			p.add(drawn, snippetsIn(drawn), p.addText) // long tables are such now
		}
	})
	return p.all
}

func unchanged(s string) string { return s }

// parts are the messages that a text is sent as.
type parts struct {
	all   []domain.Part
	files int
}

// add adds the snippets of a text as files, and has what is between them added.
func (p *parts) add(markdown string, snippets []snippet, addBetween func(string)) {
	done := 0
	for _, s := range snippets {
		addBetween(markdown[done:s.start])
		p.files++
		p.all = append(p.all, domain.Part{Text: s.text, File: fmt.Sprintf("snippet-%d.%s", p.files, extensionOf(s.language))})
		done = s.stop
	}
	addBetween(markdown[done:])
}

func (p *parts) addText(markdown string) { p.all = append(p.all, texts(markdown, partLimit)...) }

// texts are the parts of a text that fit into one message each.
func texts(markdown string, limit int) []domain.Part {
	var parts []domain.Part
	for _, part := range channels.Split(strings.Trim(markdown, "\n"), limit) {
		if limit/2 < partLeast || fits(part, limit) {
			parts = append(parts, domain.Part{Text: part})
			continue
		}
		parts = append(parts, texts(part, limit/2)...)
	}
	return parts
}

// fits reports whether Slack takes a text in one message. What it looks like counts
// too: escapes and tables are longer than what they were.
func fits(markdown string, limit int) bool {
	return utf8.RuneCountInString(markdown) <= limit &&
		utf8.RuneCountInString(render(markdown)) <= textLimit &&
		utf8.RuneCountInString(rewrite(markdown, true, quietBlock, quietCode)) <= blockLimit
}

// snippet is code in a text, fence included, that is sent as a file.
type snippet struct {
	start, stop    int
	language, text string
}

// snippetsIn returns the long code in a text, but for that in lists and quotes.
func snippetsIn(markdown string) []snippet {
	source := []byte(markdown)
	var found []snippet
	for n := outlined(source).FirstChild(); n != nil; n = n.NextSibling() {
		fence, is := n.(*ast.FencedCodeBlock)
		if !is || fence.Lines().Len() == 0 {
			continue
		}
		code := string(fence.Lines().Value(source))
		if fence.Lines().Len() <= codeMost && utf8.RuneCountInString(code) <= codeLimit {
			continue
		}
		s := snippet{text: code, language: strings.ToLower(string(fence.Language(source)))}
		s.start, s.stop = fenceAround(markdown, fence.Lines().At(0).Start, fence.Lines().At(fence.Lines().Len()-1).Stop)
		found = append(found, s)
	}
	return found
}

var fenceEnd = regexp.MustCompile("^ {0,3}(?:`{3,}|~{3,})[ \t]*(?:\n|$)")

// fenceAround returns where the fence around code begins and ends.
func fenceAround(markdown string, start, stop int) (int, int) {
	start = strings.LastIndexByte(markdown[:start], '\n') // the end of the line that opens it
	start = strings.LastIndexByte(markdown[:max(start, 0)], '\n') + 1
	return start, stop + len(fenceEnd.FindString(markdown[stop:]))
}

// extensions are those of languages that are not called as their files are.
var extensions = map[string]string{
	"bash": "sh", "c#": "cs", "c++": "cpp", "clojure": "clj", "console": "txt", "csharp": "cs", "dockerfile": "txt", "elixir": "ex",
	"erlang": "erl", "golang": "go", "haskell": "hs", "javascript": "js", "julia": "jl", "kotlin": "kt", "makefile": "txt", "markdown": "md",
	"objective-c": "m", "patch": "diff", "perl": "pl", "plaintext": "txt", "powershell": "ps1", "python": "py", "ruby": "rb", "rust": "rs",
	"shell": "sh", "terraform": "tf", "text": "txt", "typescript": "ts", "yml": "yaml", "zsh": "sh",
}

var plainExtension = regexp.MustCompile(`^[a-z][a-z0-9]{0,9}$`)

// extensionOf is that of a file in a language; txt if we do not know.
func extensionOf(language string) string {
	if e := extensions[language]; e != "" {
		return e
	}
	if plainExtension.MatchString(language) {
		return language
	}
	return "txt"
}
