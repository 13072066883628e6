package email

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// blocks are the elements that begin on a line of their own.
var blocks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Br: true, atom.Tr: true, atom.Table: true, atom.Ul: true, atom.Ol: true, atom.Li: true, atom.H1: true,
	atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Blockquote: true, atom.Pre: true, atom.Hr: true,
	atom.Section: true, atom.Article: true, atom.Header: true, atom.Footer: true, atom.Dd: true, atom.Dt: true,
}

// spaced are those that have an empty line above.
var spaced = map[atom.Atom]bool{
	atom.P: true, atom.Table: true, atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Pre: true,
}

// unseen are the elements whose content is not shown.
var unseen = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Head: true, atom.Title: true, atom.Template: true, atom.Noscript: true, atom.Svg: true,
	atom.Object: true, atom.Iframe: true, atom.Select: true, atom.Textarea: true,
}

// void are the elements that have no end.
var void = map[atom.Atom]bool{
	atom.Br: true, atom.Hr: true, atom.Img: true, atom.Input: true, atom.Meta: true, atom.Link: true, atom.Col: true, atom.Area: true,
	atom.Base: true, atom.Embed: true, atom.Param: true, atom.Source: true, atom.Track: true, atom.Wbr: true,
}

// concealing matches styles that hide text from people.
var concealing = regexp.MustCompile(`(?i)(display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0\s*(;|$)|mso-hide\s*:\s*all)`)

// textOf returns what a person sees of HTML, as text: quotes begin with ">", and hidden
// text is left out. Nothing is run or loaded, and time is linear.
func textOf(source string) string {
	w := &textWriter{}
	for tokens := html.NewTokenizer(strings.NewReader(source)); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(w.String())
		case html.TextToken:
			if w.hidden == 0 {
				w.write(string(tokens.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			w.start(tokens.Token())
		case html.EndTagToken:
			w.end(tokens.Token().DataAtom)
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// textWriter writes the text of HTML.
type textWriter struct {
	strings.Builder
	hides  []atom.Atom // the elements within one that is hidden, and it
	hidden int
	quotes int
	pre    int
	breaks int    // line breaks that are due
	space  bool   // so is a space
	link   string // of the link that is open
}

const maxQuotes = 20

func (w *textWriter) start(t html.Token) {
	kind := t.DataAtom
	if w.hidden > 0 || !void[kind] && (unseen[kind] || isHidden(t)) {
		if !void[kind] && w.hidden < 1000 {
			w.hides = append(w.hides, kind)
			w.hidden++
		}
		return
	}
	w.block(kind)
	switch kind { //nolint:exhaustive // the others have no effect
	case atom.Blockquote:
		w.quotes = min(w.quotes+1, maxQuotes)
	case atom.Pre:
		w.pre++
	case atom.Li:
		w.write("- ")
	case atom.Td, atom.Th:
		w.write(" ")
	case atom.A:
		w.link = attribute(t, "href")
	case atom.Img:
		if alt := strings.TrimSpace(attribute(t, "alt")); alt != "" {
			w.write("[" + oneLine(alt) + "]")
		}
	}
}

func (w *textWriter) end(kind atom.Atom) {
	if w.hidden > 0 {
		for i, v := range slices.Backward(w.hides) { // elements within may lack an end
			if v == kind {
				w.hides = w.hides[:i]
				w.hidden = i
				break
			}
		}
		return
	}
	switch kind { //nolint:exhaustive // the others have no effect
	case atom.Blockquote:
		w.quotes = max(0, w.quotes-1)
	case atom.Pre:
		w.pre = max(0, w.pre-1)
	case atom.A:
		if strings.HasPrefix(w.link, "http") && !strings.HasSuffix(w.String(), strings.TrimSuffix(w.link, "/")) && len(w.link) < 500 {
			w.write(" (" + w.link + ")")
		}
		w.link = ""
	}
	if kind != atom.Br {
		w.block(kind)
	}
}

// block ends the line before and after a block.
func (w *textWriter) block(kind atom.Atom) {
	switch {
	case kind == atom.Br:
		w.breaks++
	case spaced[kind]:
		w.breaks = max(w.breaks, 2)
	case blocks[kind]:
		w.breaks = max(w.breaks, 1)
	}
}

func (w *textWriter) write(text string) {
	if w.pre > 0 {
		for i, line := range strings.Split(text, "\n") {
			if i > 0 {
				w.breaks++
			}
			if line != "" {
				w.flush()
				w.WriteString(line)
			}
		}
		return
	}
	for i, word := range strings.Fields(text) {
		if i > 0 || strings.ContainsAny(text[:1], " \t\n\u00a0") {
			w.space = true
		}
		w.flush()
		w.WriteString(word)
	}
	if text != "" && strings.ContainsAny(text[len(text)-1:], " \t\n") {
		w.space = true
	}
}

// flush writes the line breaks and the space that are due.
func (w *textWriter) flush() {
	atStart := w.Len() == 0
	quote := strings.Repeat("> ", w.quotes)
	switch {
	case atStart:
		w.WriteString(quote)
	case w.breaks > 0:
		for i := range min(w.breaks, 3) {
			if i > 0 {
				w.WriteString(strings.TrimSpace(quote))
			}
			w.WriteString("\n")
		}
		w.WriteString(quote)
	case w.space:
		w.WriteString(" ")
	}
	w.breaks, w.space = 0, false
}

func isHidden(t html.Token) bool {
	for _, a := range t.Attr {
		if a.Key == "hidden" || a.Key == "style" && concealing.MatchString(a.Val) {
			return true
		}
	}
	return false
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
