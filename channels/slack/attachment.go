package slack

import (
	"cmp"
	"strings"
)

// attachment is what stands below a message's text: the whole of most alerts, and
// messages that were forwarded.
type attachment struct {
	IsShare    bool   `json:"is_share"`
	AuthorName string `json:"author_name"`
	Pretext    string `json:"pretext"`
	Title      string `json:"title"`
	Text       string `json:"text"`
	Fallback   string `json:"fallback"`
	Fields     []struct {
		Title string `json:"title"`
		Value string `json:"value"`
	} `json:"fields"`
	Files []file `json:"files"`
}

// text is what a post says: its text and the messages that it forwards, or if
// there is neither, its attachments.
func (p *post) text(self string) string {
	parts := []string{readable(p.Text, self)}
	for _, a := range p.Attachments {
		if a.IsShare {
			parts = append(parts, a.forwarded())
		}
	}
	if text := joined("\n\n", parts...); text != "" || !p.isBot() {
		return text
	}
	for _, a := range p.Attachments {
		parts = append(parts, a.alert())
	}
	return joined("\n\n", parts...)
}

// forwarded is a forwarded message as a quotation.
func (a *attachment) forwarded() string {
	said := readable(cmp.Or(a.Text, a.Fallback), "")
	if said == "" {
		return ""
	}
	from := "Forwarded message:"
	if a.AuthorName != "" {
		from = "Forwarded message from " + readable(a.AuthorName, "") + ":"
	}
	return "> " + strings.ReplaceAll(from+"\n"+said, "\n", "\n> ")
}

func (a *attachment) alert() string {
	lines := []string{readable(a.Pretext, ""), readable(a.Title, ""), readable(a.Text, "")}
	for _, f := range a.Fields {
		lines = append(lines, joined(": ", readable(f.Title, ""), readable(f.Value, "")))
	}
	return cmp.Or(joined("\n", lines...), readable(a.Fallback, ""))
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	var kept []string
	for _, text := range texts {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, separator)
}
