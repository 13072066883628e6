package skill

import (
	"fmt"
	"strings"
)

// Limits of what goes into a prompt, in bytes.
const (
	summaryLimit = 64 << 10
	activeLimit  = 64 << 10
)

// Summary lists the skills of a workspace for the system prompt, as XML, with
// locations relative to it. It is empty if there are no skills.
func Summary(workspace string, skills []Skill) string {
	if len(skills) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("<skills>\n")
	for i, s := range skills {
		element := s.element(workspace)
		if out.Len()+len(element) > summaryLimit {
			fmt.Fprintf(&out, "<!-- %d more are not listed -->\n", len(skills)-i)
			break
		}
		out.WriteString(element)
	}
	out.WriteString("</skills>")
	return out.String()
}

var xml = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (s Skill) element(workspace string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "<skill available=\"%t\">", s.Available)
	for _, child := range []struct{ name, text string }{
		{"name", s.Name},
		{"description", s.Description},
		{"location", strings.TrimPrefix(s.Location, workspace+"/")},
		{"requires", strings.Join(s.Missing, ", ")},
	} {
		if child.text != "" {
			fmt.Fprintf(&out, "<%s>%s</%[1]s>", child.name, xml.Replace(child.text))
		}
	}
	out.WriteString("</skill>\n")
	return out.String()
}

// activate marks the skills for every prompt, built-in ones first. It skips a skill
// that exceeds the remaining room and continues with the next.
func activate(skills []Skill) {
	room := activeLimit
	for _, builtin := range []bool{true, false} {
		for i := range skills {
			s := &skills[i]
			if s.Builtin != builtin || !s.Always || !s.Available || s.Text == "" {
				continue
			}
			if len(s.Text) > room {
				s.Problem = fmt.Sprintf("it is not in every prompt although it sets always: such skills share %d KB; shorten it", activeLimit>>10)
				continue
			}
			s.Active = true
			room -= len(s.Text)
		}
	}
}

// Active returns the text of the active skills, each under a heading. It is empty if
// there are none.
func Active(skills []Skill) string {
	var sections []string
	for _, s := range skills {
		if s.Active {
			sections = append(sections, "## Skill: "+s.Name+"\n\n"+s.Text)
		}
	}
	return strings.Join(sections, "\n\n")
}
