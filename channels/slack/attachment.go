package slack

import (
	"cmp"
	"slices"
	"strings"
)

// file is a file of a message.
type file struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	MIME        string `json:"mimetype"`
	Size        int64  `json:"size"`
	Mode        string `json:"mode"`
	Private     string `json:"url_private"`
	PrivateFull string `json:"url_private_download"`
}

// attachment is shown below a message's text. Most alerts consist of attachments only, and
// a forwarded message is one.
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

// forwarded returns a forwarded message as a quotation.
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
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}
