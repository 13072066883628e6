package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// shownLimit bounds a tool result in an imported transcript, in bytes. The full result
// is stored separately.
const shownLimit = 16_000

// NoResult is the content of a tool result that the file lacks.
const NoResult = "No result: it is missing in the imported file."

// turnMaker groups the messages of a file into turns: a user message and all messages
// up to the next one.
type turnMaker struct {
	file  *File
	key   string
	scope func(sender string) string
	turns []store.ImportTurn
	made  map[string]int // number of turns by digest

	digest []message // of the current turn
	step   int       // of its last completion
}

// importTurns returns the turns of a file. Turns that were exported from the same session
// keep their IDs. Those of others derive from the session and the content. Either way,
// importing a turn again yields the same ID.
func importTurns(file *File, key string, scope func(sender string) string) []store.ImportTurn {
	k := turnMaker{file: file, key: key, scope: scope, made: map[string]int{}}
	for i, m := range file.messages {
		switch domain.Role(m.Role) {
		case domain.RoleUser:
			k.user(m, i < file.head.Consolidated)
		case domain.RoleAssistant:
			k.completion(m, i < file.head.Consolidated)
		case domain.RoleTool:
			k.result(m)
		case domain.RoleSystem:
			file.leave(m.line, "system prompts are not imported")
		default:
			file.leave(m.line, fmt.Sprintf("unknown role %q", m.Role))
		}
	}
	k.close()
	return k.turns
}

func (k *turnMaker) user(m message, past bool) {
	text := withoutContext(m.text())
	for _, file := range attachments(m.Media) {
		text = strings.TrimSpace(text + "\n[Attached: " + file + "]")
	}
	if text == "" && m.text() != "" { // only context
		return
	}
	joins := m.Turn != "" && len(k.digest) > 0 && k.digest[0].Turn == m.Turn
	if !joins {
		k.open(past, k.scope(m.Sender))
	}
	row := domain.Message{Step: k.step + 1, Role: domain.RoleUser, Content: text, Sender: m.Sender, SenderName: m.SenderName}
	if last := k.last(); last != nil && last.Role == domain.RoleUser {
		row.Index = last.Index + 1
	}
	k.add(m, row)
}

func (k *turnMaker) completion(m message, past bool) {
	if len(k.turns) == 0 { // without a user message, as for a job
		k.open(past, "")
	}
	var calls []domain.ToolCall
	for _, call := range m.ToolCalls {
		calls = append(calls, domain.ToolCall{
			ID: call.ID, Name: callName(call.Function.Name), Arguments: callArguments(string(call.Function.Arguments)),
		})
	}
	if last := k.last(); last != nil && last.Role == domain.RoleAssistant && len(last.ToolCalls) == 0 {
		// Providers reject consecutive assistant messages.
		last.Content, last.ToolCalls = strings.TrimSpace(last.Content+"\n\n"+m.text()), calls
		k.digest = append(k.digest, m)
		return
	}
	k.step++
	k.add(m, domain.Message{Step: k.step, Role: domain.RoleAssistant, Content: m.text(), Reasoning: m.Reasoning, ToolCalls: calls})
}

// last returns the last message of the current turn; nil if it has none.
func (k *turnMaker) last() *domain.Message {
	messages := k.turns[len(k.turns)-1].Messages
	if len(messages) == 0 {
		return nil
	}
	return &messages[len(messages)-1]
}

// result adds the result of a call of the last completion.
func (k *turnMaker) result(m message) {
	index, call, found := k.waiting(m.ToolCallID)
	if !found {
		k.file.leave(m.line, "result of an unknown call")
		return
	}
	row := domain.Message{
		Step: k.step, Index: index, Role: domain.RoleTool, Content: m.text(), CallID: call.ID, Name: call.Name, Failed: m.Failed,
	}
	if len(row.Content) > shownLimit {
		row.Full, row.Content = []byte(row.Content), text.Cut(row.Content, shownLimit)
	}
	k.add(m, row)
}

// waiting returns the first call of the last completion that has no result and the
// given ID; an empty ID matches all calls.
func (k *turnMaker) waiting(id string) (index int, call domain.ToolCall, found bool) {
	if len(k.turns) == 0 {
		return 0, domain.ToolCall{}, false
	}
	answered := map[int]bool{}
	var calls []domain.ToolCall
	for _, m := range k.turns[len(k.turns)-1].Messages {
		switch {
		case m.Step != k.step:
		case m.Role == domain.RoleTool:
			answered[m.Index] = true
		case m.Role == domain.RoleAssistant:
			calls = m.ToolCalls
		}
	}
	for i, call := range calls {
		if (call.ID == id || id == "") && !answered[i] {
			return i, call, true
		}
	}
	return 0, domain.ToolCall{}, false
}

func (k *turnMaker) open(past bool, scope string) {
	k.close()
	k.turns = append(k.turns, store.ImportTurn{Past: past, Scope: scope})
	k.digest, k.step = nil, 0
}

func (k *turnMaker) add(m message, row domain.Message) {
	row.CreatedAt = m.Timestamp.Time
	turn := &k.turns[len(k.turns)-1]
	turn.Messages = append(turn.Messages, row)
	k.digest = append(k.digest, m)
}

// close gives the current turn its ID, and each of its calls a result and an ID that
// all providers accept.
func (k *turnMaker) close() {
	if len(k.turns) == 0 {
		return
	}
	turn := &k.turns[len(k.turns)-1]
	h := sha256.New()
	for _, m := range k.digest {
		written := m.Timestamp.written
		m.Timestamp = looseTime{}
		said, _ := json.Marshal(m) // decoded from JSON
		fmt.Fprintf(h, "%s %s\n", written, said)
	}
	digest := hex.EncodeToString(h.Sum(nil))
	k.made[digest]++
	turn.ID = domain.MessageID("import", k.key, fmt.Sprintf("%s %d", digest, k.made[digest]))
	if exported := k.digest[0].Turn; exported != "" && k.file.head.Metadata[sessionKey] == k.key {
		turn.ID = exported
	}

	type position struct{ step, index int }
	results := map[position]int{}
	for i, m := range turn.Messages {
		if m.Role == domain.RoleTool {
			results[position{m.Step, m.Index}] = i
		}
	}
	for _, m := range turn.Messages {
		for i := range m.ToolCalls {
			call := &m.ToolCalls[i]
			if call.ID == "" || len(call.ID) > maxName || notInName.MatchString(call.ID) {
				call.ID = fmt.Sprintf("call_%.9s_%d_%d", turn.ID, m.Step, i)
			}
			if at, found := results[position{m.Step, i}]; found {
				turn.Messages[at].CallID = call.ID
				continue
			}
			turn.Messages = append(turn.Messages, domain.Message{
				Step: m.Step, Index: i, Role: domain.RoleTool, Content: NoResult, CallID: call.ID, Name: call.Name,
				Failed: true, Filled: true, CreatedAt: m.CreatedAt,
			})
		}
	}
}

// notInName matches what providers reject in IDs and names.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

const maxName = 64 // bytes of an ID or a name

func callName(name string) string {
	name = notInName.ReplaceAllString(name, "_")
	return name[:min(len(name), maxName)]
}

// callArguments returns text as a JSON object.
func callArguments(text string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) == nil && object != nil {
		return text
	}
	if strings.TrimSpace(text) == "" || text == "null" {
		return "{}"
	}
	raw, _ := json.Marshal(map[string]string{"_raw": text}) // strings always marshal
	return string(raw)
}

// attachments returns the paths of attachments; none if media has another form.
func attachments(media json.RawMessage) (paths []string) {
	_ = json.Unmarshal(media, &paths)
	return paths
}

// runtimeContext matches what nanobot adds before or after a user message.
var runtimeContext = regexp.MustCompile(
	`^\[Runtime Context[^\]\n]*\]\n(?:(?:Current Time|Channel|Chat ID|Sender ID):[^\n]*\n*)+(?:\[/Runtime Context\]\n*)?|` +
		`\n*\[Runtime Context[^\]\n]*\]\n(?:(?:Current Time|Channel|Chat ID|Sender ID):[^\n]*\n*)+$`)

func withoutContext(text string) string { return runtimeContext.ReplaceAllString(text, "") }
