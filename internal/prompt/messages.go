package prompt

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// earlierLimit is how much of a tool result later turns see, in characters.
const earlierLimit = 500

// stale is how old a message's time may be and still pass for the current one.
const stale = time.Hour

// What stands where a provider would refuse to have nothing.
const (
	noResult  = "No result: the call did not finish."
	noOutput  = "(no output)"
	noText    = "(no text)"
	noName    = "unknown"
	noneGiven = "{}"
)

// Messages returns what the model is sent: the system prompt; the last window
// messages of earlier turns, from a user message on, their tool results cut to
// 500 characters; and all of this turn as it is stored, its user messages with
// their context. Every tool call is followed by exactly one result, in the order
// of the calls. Rows are matched by turn, step and index; the order of results
// among them does not matter.
func Messages(system string, begun store.Begun, turn string, window int, now time.Time) []llm.Message {
	earlier, current := split(begun.History, turn)
	earlier = earlier[max(0, len(earlier)-max(window, 0)):]

	w := writer{turn: turn, results: resultsOf(earlier, current), ids: map[string]bool{}}
	for _, m := range earlier {
		w.add(m, m.Content)
	}
	inbound := map[string]store.Inbound{}
	for _, in := range begun.Inbound {
		inbound[in.ID] = in
	}
	for _, m := range current {
		text := m.Content
		if m.Role == llm.RoleUser {
			text = User(text, contextOf(m, inbound[m.Source], now))
		}
		w.add(m, text)
	}
	if system == "" {
		return w.messages
	}
	return append([]llm.Message{{Role: llm.RoleSystem, Content: system}}, w.messages...)
}

// Missing returns a row, without content, for each tool call of the turn that has
// no result.
func Missing(history []store.Message, turn string) []store.Message {
	_, current := split(history, turn)
	results := resultsOf(current)
	var missing []store.Message
	for _, m := range current {
		if m.Role != llm.RoleAssistant {
			continue
		}
		for i, call := range m.ToolCalls {
			if _, found := results[position{m.Turn, m.Step, i}]; !found {
				missing = append(missing, store.Message{
					Turn: m.Turn, Step: m.Step, Index: i, Role: llm.RoleTool, CallID: call.ID, Name: call.Name,
				})
			}
		}
	}
	return missing
}

func split(history []store.Message, turn string) (earlier, current []store.Message) {
	for _, m := range history {
		if m.Turn == turn {
			current = append(current, m)
		} else {
			earlier = append(earlier, m)
		}
	}
	return earlier, current
}

// position is where a tool call is, and its result.
type position struct {
	turn        string
	step, index int
}

func resultsOf(rows ...[]store.Message) map[position]store.Message {
	results := map[position]store.Message{}
	for _, list := range rows {
		for _, m := range list {
			at := position{m.Turn, m.Step, m.Index}
			if _, found := results[at]; m.Role == llm.RoleTool && !found {
				results[at] = m
			}
		}
	}
	return results
}

// contextOf gives the message the time it was written at, so that the prompt of
// a turn's next step begins with that of the last one and can be cached. After a
// long wait knowing the time matters more.
func contextOf(m store.Message, in store.Inbound, now time.Time) Context {
	at := now
	if !m.CreatedAt.IsZero() && now.Sub(m.CreatedAt) < stale {
		at = m.CreatedAt.In(now.Location())
	}
	sender := in.SenderName
	if sender == "" {
		sender = m.Sender
	}
	return Context{Now: at, Channel: in.Channel, Chat: in.Chat, SenderName: sender}
}

// writer turns rows into messages that keep the providers' rules.
type writer struct {
	turn     string
	results  map[position]store.Message
	ids      map[string]bool // of tool calls so far
	messages []llm.Message
}

func (w *writer) add(m store.Message, text string) {
	switch m.Role {
	case llm.RoleUser:
		w.messages = append(w.messages, llm.Message{Role: llm.RoleUser, Content: or(text, noText)})
	case llm.RoleAssistant:
		if len(w.messages) > 0 {
			w.completion(m, text)
		}
	case llm.RoleTool, llm.RoleSystem: // results are added with their calls
	}
}

func (w *writer) completion(m store.Message, text string) {
	message := llm.Message{Role: llm.RoleAssistant, Content: text, Reasoning: m.Reasoning}
	if len(m.ToolCalls) == 0 {
		message.Content = or(text, noText)
	}
	var results []llm.Message
	for i, call := range m.ToolCalls {
		call.ID = w.id(call.ID, m.Step, i)
		call.Name, call.Arguments = or(call.Name, noName), or(call.Arguments, noneGiven)
		message.ToolCalls = append(message.ToolCalls, call)
		results = append(results, llm.Message{
			Role: llm.RoleTool, ToolCallID: call.ID, Name: call.Name, Content: w.result(position{m.Turn, m.Step, i}),
		})
	}
	w.messages = append(append(w.messages, message), results...)
}

// id is the call's own, unless a call before it has that too.
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

// cut shortens text to what later turns see of it.
func cut(text string) string {
	total := utf8.RuneCountInString(text)
	if total <= earlierLimit {
		return text
	}
	end := 0
	for range earlierLimit {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return fmt.Sprintf("%s\n… (cut: the first %d of %d characters)", text[:end], earlierLimit, total)
}

// or returns text, or fallback if nothing can be seen of it.
func or(text, fallback string) string {
	if strings.TrimSpace(text) == "" {
		return fallback
	}
	return text
}
