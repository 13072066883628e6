package chat

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Runes counts characters. It, [UTF16] and [Bytes] are measures for [Limits].
func Runes(text string) int { return utf8.RuneCountInString(text) }

// UTF16 counts UTF-16 code units.
func UTF16(text string) int { return len(utf16.Encode([]rune(text))) }

// Bytes counts bytes.
func Bytes(text string) int { return len(text) }

// leastPart is the size below which parts are not split further for their rendering.
const leastPart = 200

// Split implements [channels.Splitter]: parts fit into one message each, and long code is
// a file.
func (o *Outbound) Split(text string) []domain.Part {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	snippets := o.limits.Code.snippets(text)
	if len(snippets) == 0 && o.limits.fits(text) {
		return []domain.Part{{Text: text}}
	}
	p := parts{limits: o.limits}
	if o.limits.Answer > 0 {
		p.limits.Text -= Runes(textMore)
	}
	p.add(text, snippets, func(between string) {
		for _, piece := range o.limits.prepared(between) {
			p.add(piece, o.limits.Code.snippets(piece), p.addText) // long tables may be code now
		}
	})
	return withMore(p.all, o.limits.Answer)
}

// textMore ends the last message of those that a platform takes at once.
const textMore = "\n\n(More follows, at the latest when you write again.)"

// withMore adds to each nth part, unless it is the last, that there are more. A file cannot
// say it: the text before it does.
func withMore(all []domain.Part, n int) []domain.Part {
	for i := n; n > 0 && i < len(all); i += n {
		for at := i - 1; at >= i-n; at-- {
			if all[at].File == "" {
				all[at].Text += textMore
				break
			}
		}
	}
	return all
}

// prepared returns a text rewritten by Prepare, which takes only so much at once: in one
// piece, unless that had to be cut within a paragraph or code.
func (l Limits) prepared(text string) []string {
	if l.Prepare == nil {
		return []string{text}
	}
	var out []string
	for _, piece := range markdown.Split(text, markdown.Limit) {
		prepared := l.Prepare(piece)
		at := strings.Index(text, piece)
		if at < 0 { // code whose fence is opened again
			out = append(out, prepared)
			continue
		}
		gap := text[:at]
		text = text[at+len(piece):]
		if len(out) == 0 || strings.TrimSpace(gap) != "" || !strings.Contains(gap, "\n") {
			out = append(out, prepared)
			continue
		}
		out[len(out)-1] += gap + prepared
	}
	return out
}

// fits reports whether one message holds a text.
func (l Limits) fits(text string) bool {
	return (l.Text == 0 || l.size(text) <= l.Text) && len(l.cut(text)) < 2
}

func (l Limits) cut(text string) []string {
	if l.Cut == nil {
		return []string{text}
	}
	return l.Cut(text)
}

func (l Limits) size(text string) int {
	if l.Measure == nil {
		return Runes(text)
	}
	return l.Measure(text)
}

// parts are the messages that a text is sent as.
type parts struct {
	limits Limits
	all    []domain.Part
	files  int
}

// add adds the snippets of a text as files, and calls addBetween for the rest.
func (p *parts) add(text string, snippets []snippet, addBetween func(string)) {
	done := 0
	for _, s := range snippets {
		addBetween(text[done:s.start])
		p.files++
		p.all = append(p.all, domain.Part{Text: s.text, File: fmt.Sprintf("snippet-%d.%s", p.files, extensionOf(s.language))})
		done = s.stop
	}
	addBetween(text[done:])
}

func (p *parts) addText(text string) {
	for _, piece := range p.limits.cut(text) {
		p.addTexts(piece, p.limits.Text)
	}
}

// addTexts adds a text in parts of at most limit runes, or smaller ones if those do not fit.
func (p *parts) addTexts(text string, limit int) {
	for _, part := range markdown.Split(strings.Trim(text, "\n"), limit) {
		if limit/2 < leastPart || p.limits.fits(part) {
			p.all = append(p.all, domain.Part{Text: part})
			continue
		}
		p.addTexts(part, limit/2)
	}
}

// snippet is code in a text, fence included, that is sent as a file.
type snippet struct {
	start, stop    int
	language, text string
}

// snippets returns the code in a text that exceeds the limit, except in lists and quotes.
func (c Code) snippets(text string) []snippet {
	if c == (Code{}) {
		return nil
	}
	source := []byte(text)
	var found []snippet
	for n := markdown.Outline(source).FirstChild(); n != nil; n = n.NextSibling() {
		fence, is := n.(*ast.FencedCodeBlock)
		if !is || fence.Lines().Len() == 0 {
			continue
		}
		code := string(fence.Lines().Value(source))
		if fence.Lines().Len() <= c.Lines && utf8.RuneCountInString(code) <= c.Runes {
			continue
		}
		s := snippet{text: code, language: strings.ToLower(string(fence.Language(source)))}
		s.start, s.stop = fenceAround(text, fence.Lines().At(0).Start, fence.Lines().At(fence.Lines().Len()-1).Stop)
		found = append(found, s)
	}
	return found
}

var fenceEnd = regexp.MustCompile("^ {0,3}(?:`{3,}|~{3,})[ \t]*(?:\n|$)")

// fenceAround returns where the fence around code begins and ends.
func fenceAround(text string, start, stop int) (int, int) {
	start = strings.LastIndexByte(text[:start], '\n') // the end of the line that opens it
	start = strings.LastIndexByte(text[:max(start, 0)], '\n') + 1
	return start, stop + len(fenceEnd.FindString(text[stop:]))
}

// extensions has the file extensions of languages with another name.
var extensions = map[string]string{
	"bash": "sh", "c#": "cs", "c++": "cpp", "clojure": "clj", "console": "txt", "csharp": "cs", "dockerfile": "txt", "elixir": "ex",
	"erlang": "erl", "golang": "go", "haskell": "hs", "javascript": "js", "julia": "jl", "kotlin": "kt", "makefile": "txt", "markdown": "md",
	"objective-c": "m", "patch": "diff", "perl": "pl", "plaintext": "txt", "powershell": "ps1", "python": "py", "ruby": "rb", "rust": "rs",
	"shell": "sh", "terraform": "tf", "text": "txt", "typescript": "ts", "yml": "yaml", "zsh": "sh",
}

var plainExtension = regexp.MustCompile(`^[a-z][a-z0-9]{0,9}$`)

// extensionOf returns the file extension of a language; txt if it is unknown.
func extensionOf(language string) string {
	if e := extensions[language]; e != "" {
		return e
	}
	if plainExtension.MatchString(language) {
		return language
	}
	return "txt"
}
