package skill

import (
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// What goes into a prompt is bounded, in bytes.
const (
	summaryLimit = 64 << 10
	activeLimit  = 64 << 10
)

// Summary lists the skills for the system prompt, as XML. It is empty without any.
func Summary(skills []Skill) string {
	if len(skills) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("<skills>\n")
	for i, s := range skills {
		element := s.element()
		if out.Len()+len(element) > summaryLimit {
			fmt.Fprintf(&out, "  <!-- %d more are not listed -->\n", len(skills)-i)
			break
		}
		out.WriteString(element)
	}
	out.WriteString("</skills>")
	return out.String()
}

var xml = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (s Skill) element() string {
	var out strings.Builder
	fmt.Fprintf(&out, "  <skill available=\"%t\">\n", s.Available)
	for _, child := range []struct{ name, text string }{
		{"name", s.Name},
		{"description", s.Description},
		{"location", s.Location},
		{"requires", strings.Join(s.Missing, ", ")},
	} {
		if child.text != "" {
			fmt.Fprintf(&out, "    <%s>%s</%[1]s>\n", child.name, xml.Replace(child.text))
		}
	}
	out.WriteString("  </skill>\n")
	return out.String()
}

// Active returns the text of the skills that ask to be in every prompt and have
// what they require, each under a heading. It is empty without any.
func Active(skills []Skill) string {
	var sections []string
	room := activeLimit
	for _, s := range skills {
		if !s.Always || !s.Available || s.Text == "" {
			continue
		}
		text := s.Text
		if len(text) > room {
			text = protocol.Cut(text, room) + "\n\n(cut: the whole is in " + s.Location + ")"
		}
		room = max(0, room-len(text))
		sections = append(sections, "## Skill: "+s.Name+"\n\n"+text)
	}
	return strings.Join(sections, "\n\n")
}
