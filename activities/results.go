package activities

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	// resultsDir is the workspace folder for results that are too long for the model.
	resultsDir = "results"
	// shownLimit is the number of bytes of a result that the running turn's model sees.
	shownLimit = 16_000
	// keptLimit is the number of bytes of a result that the store keeps.
	keptLimit = 10 << 20
)

// resultRow is a tool's result as a message of the transcript. If it is too long for the
// model, the whole result goes into the store and into a workspace file.
func (a *Agent) resultRow(in protocol.CallToolInput, call domain.ToolCall, result tool.Result) domain.Message {
	output := strings.ToValidUTF8(result.Text, "\uFFFD")
	if output == "" {
		output = "(no output)"
	}
	row := domain.Message{
		Turn: in.Turn, Step: in.Step, Index: in.Index, Role: domain.RoleTool,
		Content: output, CallID: call.ID, Name: call.Name, Failed: result.Failed,
	}
	if len(output) <= shownLimit {
		return row
	}
	file := filepath.Join(resultsDir, in.Key()+".txt")
	where := "the whole output is in the workspace file " + file
	if err := a.keep(file, output); err != nil {
		a.Logger.Warn("long result not saved in the workspace", "call", in.Key(), "err", err)
		where = "it could not be saved to a file: " + err.Error()
	}
	row.Full = []byte(text.Cut(output, keptLimit))
	head, tail := headTail(output, shownLimit)
	row.Content = fmt.Sprintf("%s\n\n[… %d of %d bytes left out; %s …]\n\n%s",
		head, len(output)-len(head)-len(tail), len(output), where, tail)
	return row
}

// keep writes a result into a workspace file, replacing that of an earlier attempt.
func (a *Agent) keep(file, text string) error {
	root, err := os.OpenRoot(a.Workspace)
	if err != nil {
		return fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return safefile.Write(root, file, strings.NewReader(text))
}

// headTail returns the start and the end of text, together at most limit bytes of whole
// characters. Errors are mostly at the end.
func headTail(s string, limit int) (head, tail string) {
	h, t := text.Boundary(s, limit*3/4), len(s)-limit/4
	for t < len(s) && !utf8.RuneStart(s[t]) {
		t++
	}
	return s[:h], s[t:]
}
