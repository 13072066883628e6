package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// chaosKind is what a message of the chaos test makes the agent do.
type chaosKind string

const (
	kindSay   chaosKind = "say"   // answer
	kindTools chaosKind = "tools" // two calls that read
	kindFile  chaosKind = "file"  // write, edit and read a file
	kindRun   chaosKind = "run"   // run a command
	kindAsk   chaosKind = "ask"   // run a command that is approved
	kindDeny  chaosKind = "deny"  // run a command that is denied
	kindSpawn chaosKind = "spawn" // have a subagent run a command
	kindJob   chaosKind = "job"   // have a job run a command
	kindHold  chaosKind = "hold"  // answer once the model is released; not sent at random
)

// chaosKinds are the kinds as often as they are sent.
var chaosKinds = []chaosKind{
	kindSay, kindSay, kindTools, kindFile, kindFile, kindRun, kindRun, kindRun, kindAsk, kindAsk, kindDeny, kindSpawn, kindJob,
}

// jobDelay is how long after its creation a job is due.
const jobDelay = 4 * time.Second

// chaosModel is a model without state: the transcript alone decides what it answers. Its
// messages are "KIND NAME SECONDS", where the name is in the answer.
type chaosModel struct {
	*llmtest.Server

	mu    sync.Mutex
	fault *llmtest.Step // what each request gets, unless nil
	holds bool          // messages of kindHold
}

// breakWith makes each request fail in this way until repair.
func (m *chaosModel) breakWith(step llmtest.Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = &step
}

func (m *chaosModel) repair() {
	m.mu.Lock()
	m.fault, m.holds = nil, false
	m.mu.Unlock()
	m.Release()
}

// hold makes messages of kindHold wait for repair.
func (m *chaosModel) hold() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds = true
}

func (m *chaosModel) decide(r llmtest.Request) llmtest.Step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault != nil {
		return *m.fault
	}
	asked, results := r.LastUser(), resultsOfTurn(r)
	switch {
	case strings.HasPrefix(asked, "[Report of the subagent"):
		_, result, _ := strings.Cut(asked, "\nResult:\n")
		line, _, _ := strings.Cut(result, "\n")
		return llmtest.Text("report of " + line)
	case strings.HasPrefix(asked, "[Scheduled job"):
		_, asked, _ = strings.Cut(asked, "\n")
	}
	line, _, _ := strings.Cut(asked, "\n")
	words := strings.Fields(line)
	if len(words) != 3 {
		return llmtest.Text("not understood: " + line)
	}
	if m.holds && chaosKind(words[0]) == kindHold {
		return llmtest.Hang()
	}
	return chaosStep(chaosKind(words[0]), words[1], words[2], results)
}

// chaosStep returns the next step of the turn of a message, or of the subagent or job that
// does its work.
func chaosStep(kind chaosKind, name, seconds string, results []string) llmtest.Step {
	var script []llmtest.Step // a step for each result
	want := ""                // in the results
	switch kind {
	case kindTools:
		script = []llmtest.Step{llmtest.Calls(chaosCall("list_dir", "path", "."), chaosCall("find_files", "pattern", "*.md"))}
	case kindFile:
		path := chaosFile(name)
		script = []llmtest.Step{
			llmtest.Calls(chaosCall("write_file", "path", path, "content", "one of "+name+"\n")),
			llmtest.Calls(chaosCall("edit_file", "path", path, "old_text", "one", "new_text", "two")),
			llmtest.Calls(chaosCall("read_file", "path", path)),
		}
		want = "two of " + name
	case kindRun, kindAsk, kindDeny:
		script = []llmtest.Step{llmtest.Calls(chaosCall("exec", "command", chaosCommand(kind, name, seconds)))}
		if want = "output of " + name; kind == kindDeny {
			want = "Not run: a person denied it"
		}
	case kindSpawn:
		script = []llmtest.Step{llmtest.Calls(chaosCall("spawn", "task", chaosText(kindRun, name, seconds)))}
	case kindJob:
		if len(results) > 0 && strings.Contains(results[len(results)-1], "in the past") {
			results = nil // the process was stopped before it added the job
		}
		at := time.Now().Add(jobDelay).Format(time.RFC3339)
		script = []llmtest.Step{llmtest.Calls(chaosCall("cron", "action", "add", "name", name, "at", at,
			"message", chaosText(kindRun, name, seconds)))}
	default:
	}
	if len(results) < len(script) {
		return script[len(results)]
	}
	if all := strings.Join(results, "\n"); !strings.Contains(all, want) {
		return llmtest.Text(chaosAnswer(name) + ", but with " + all)
	}
	return llmtest.Text(chaosAnswer(name))
}

// chaosCall is a tool call with these names and values of arguments.
func chaosCall(tool string, arguments ...string) llmtest.Call {
	object := map[string]string{}
	for i := 0; i < len(arguments); i += 2 {
		object[arguments[i]] = arguments[i+1]
	}
	encoded, _ := json.Marshal(object) // strings always can be
	return llmtest.Call{Name: tool, Arguments: string(encoded)}
}

func chaosText(kind chaosKind, name, seconds string) string {
	return fmt.Sprintf("%s %s %s", kind, name, seconds)
}

func chaosAnswer(name string) string { return "answer to " + name }

func chaosFile(name string) string { return "files/" + name + ".txt" }

// chaosCommand leaves a mark when it begins and when it ends. An approval rule asks about
// the commands whose kind needs an answer.
func chaosCommand(kind chaosKind, name, seconds string) string {
	return fmt.Sprintf("echo begin %[2]s >> %[4]s; sleep %[3]s; echo end %[2]s >> %[4]s; echo output of %[2]s # %[1]s",
		kind, name, seconds, effectsFile)
}

// effectsFile has a line for each beginning and end of a command.
const effectsFile = "effects.txt"
