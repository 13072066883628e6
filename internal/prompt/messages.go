package prompt

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// earlierLimit bounds the tool results of earlier turns, in characters.
const earlierLimit = 500

// stale is the age from which a message's time no longer counts as the current time.
const stale = time.Hour

// Placeholders for what providers reject when empty.
const (
	noResult  = "No result: the call did not finish."
	noOutput  = "(no output)"
	noText    = "(no text)"
	noName    = "unknown"
	noneGiven = "{}"
)

// Conversation is the input of a model call.
type Conversation struct {
	System string
	Step   domain.Step
	Turn   string // the running turn
	Window int    // maximum number of messages from earlier turns
	Now    time.Time
	Images map[string][]domain.Image // of this turn, by inbound message ID
	Blind  bool                      // the model rejected the images
}

// Messages returns the messages of a model call: the system prompt; the last
// messages of earlier turns, starting with a user message, with tool results cut to
// 500 characters; and the whole running turn, its user messages with their context
// and images. If several people wrote, earlier messages name their sender. Each tool
// call is followed by exactly one result, in the order of the calls; results are
// matched by turn, step and index.
func Messages(c Conversation) []domain.Message {
	earlier, current := split(c.Step.History, c.Turn)
	earlier = earlier[max(0, len(earlier)-max(c.Window, 0)):]
	w := writer{turn: c.Turn, results: resultsOf(earlier, current), ids: map[string]bool{}}
	named := several(earlier, current)
	for _, m := range earlier {
		text := m.Content
		if named && m.Role == domain.RoleUser {
			text = from(text, m)
		}
		w.add(m, text)
	}

	inbound := map[string]domain.Inbound{}
	for _, in := range c.Step.Inbound {
		inbound[in.ID] = in
	}
	for _, m := range current {
		text := m.Content
		if m.Role == domain.RoleUser {
			about := contextOf(m, inbound[m.Source], c.Now)
			about.Blind = c.Blind
			text = User(text, about)
		}
		w.add(m, text)
		if images := c.Images[m.Source]; m.Role == domain.RoleUser && len(images) > 0 {
			w.messages[len(w.messages)-1].Images = images
		}
	}
	if c.System == "" {
		return w.messages
	}
	return append([]domain.Message{{Role: domain.RoleSystem, Content: c.System}}, w.messages...)
}

// several reports whether more than one person wrote the messages.
func several(rows ...[]domain.Message) bool {
	senders := map[string]bool{}
	for _, list := range rows {
		for _, m := range list {
			if m.Role == domain.RoleUser {
				senders[m.Sender] = true
			}
		}
	}
	return len(senders) > 1
}

// from appends the sender to an earlier message.
func from(content string, m domain.Message) string {
	name := text.Name(cmp.Or(m.SenderName, m.Sender))
	if name == "" {
		return content
	}
	return strings.TrimRight(content, " \t\r\n") + "\n\n[Sender: " + name + "]"
}

// Missing returns an empty result for each tool call of the turn that has none.
func Missing(history []domain.Message, turn string) []domain.Message {
	results := resultsOf(history)
	var missing []domain.Message
	for _, m := range history {
		if m.Turn != turn || m.Role != domain.RoleAssistant {
			continue
		}
		for i, call := range m.ToolCalls {
			if _, found := results[position{m.Turn, m.Step, i}]; !found {
				missing = append(missing, domain.Message{
					Turn: m.Turn, Step: m.Step, Index: i, Role: domain.RoleTool, CallID: call.ID, Name: call.Name,
				})
			}
		}
	}
	return missing
}

func split(history []domain.Message, turn string) (earlier, current []domain.Message) {
	earlier = make([]domain.Message, 0, len(history))
	for _, m := range history {
		if m.Turn == turn {
			current = append(current, m)
		} else {
			earlier = append(earlier, m)
		}
	}
	return earlier, current
}

// position identifies a tool call and its result.
type position struct {
	turn        string
	step, index int
}

func resultsOf(rows ...[]domain.Message) map[position]domain.Message {
	results := map[position]domain.Message{}
	for _, list := range rows {
		for _, m := range list {
			at := position{m.Turn, m.Step, m.Index}
			if _, found := results[at]; m.Role == domain.RoleTool && !found {
				results[at] = m
			}
		}
	}
	return results
}

// contextOf returns the context of a user message. Its time is when the message was
// written, which keeps the prompt cacheable from step to step, unless it is stale.
func contextOf(m domain.Message, in domain.Inbound, now time.Time) Context {
	at := now
	if !m.CreatedAt.IsZero() && now.Sub(m.CreatedAt) < stale {
		at = m.CreatedAt
	}
	zone := now.Location()
	if in.Enriched != nil && in.Enriched.Zone != "" {
		if theirs, err := time.LoadLocation(in.Enriched.Zone); err == nil {
			zone = theirs
		}
	}
	return Context{Now: at.In(zone), Channel: in.Channel, Chat: in.Chat, SenderName: cmp.Or(in.Name(), m.Sender)}
}

// writer converts stored messages to what providers accept.
type writer struct {
	turn     string
	results  map[position]domain.Message
	ids      map[string]bool // of the tool calls so far
	messages []domain.Message
}

func (w *writer) add(m domain.Message, text string) {
	switch m.Role {
	case domain.RoleUser:
		w.messages = append(w.messages, domain.Message{Role: domain.RoleUser, Content: or(text, noText)})
	case domain.RoleAssistant:
		if len(w.messages) > 0 {
			w.completion(m, text)
		}
	case domain.RoleTool, domain.RoleSystem: // results are added with their calls
	}
}

func (w *writer) completion(m domain.Message, text string) {
	message := domain.Message{Role: domain.RoleAssistant, Content: text, Reasoning: m.Reasoning}
	if len(m.ToolCalls) == 0 {
		message.Content = or(text, noText)
	}
	var results []domain.Message
	for i, call := range m.ToolCalls {
		call.ID = w.id(call.ID, m.Step, i)
		call.Name, call.Arguments = or(call.Name, noName), or(call.Arguments, noneGiven)
		message.ToolCalls = append(message.ToolCalls, call)
		results = append(results, domain.Message{
			Role: domain.RoleTool, CallID: call.ID, Name: call.Name, Content: w.result(position{m.Turn, m.Step, i}),
		})
	}
	w.messages = append(append(w.messages, message), results...)
}

// id returns the call's own ID, made unique.
func (w *writer) id(id string, step, index int) string {
	id = or(id, fmt.Sprintf("call_%d_%d", step, index))
	unique := id
	for n := 2; w.ids[unique]; n++ {
		unique = fmt.Sprintf("%s_%d", id, n)
	}
	w.ids[unique] = true
	return unique
}

func (w *writer) result(at position) string {
	m, found := w.results[at]
	switch {
	case !found:
		return noResult
	case at.turn != w.turn:
		return or(cut(m.Content), noOutput)
	default:
		return or(m.Content, noOutput)
	}
}

// cut shortens a tool result for later turns.
func cut(s string) string {
	total := utf8.RuneCountInString(s)
	if total <= earlierLimit {
		return s
	}
	return fmt.Sprintf("%s\n… (cut: the first %d of %d characters)", text.FirstRunes(s, earlierLimit), earlierLimit, total)
}

// or returns text, or fallback if text is blank.
func or(text, fallback string) string {
	if strings.TrimSpace(text) == "" {
		return fallback
	}
	return text
}
