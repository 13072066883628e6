package workflows_test

import (
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// msg is a message of ana's that may join a turn.
func msg(id string) protocol.MessageRef {
	return protocol.MessageRef{ID: id, Sender: "ana", Join: true}
}

// bobs is a message of another sender.
func bobs(id string) protocol.MessageRef {
	return protocol.MessageRef{ID: id, Sender: "bob", Join: true}
}

// alone is a message of ana's that waits for its own turn.
func alone(id string) protocol.MessageRef { return protocol.MessageRef{ID: id, Sender: "ana"} }

func cmd(id string, command domain.Command) protocol.MessageRef {
	return protocol.NewMessageRef(domain.Inbound{ID: id, Sender: "ana", Command: command, Queue: true})
}

// many are so many messages of ana's, with IDs of the usual length.
func many(n int) []protocol.MessageRef {
	var list []protocol.MessageRef
	for i := range n {
		list = append(list, msg(fmt.Sprintf("m%020d", i)))
	}
	return list
}

func idsOf(messages []protocol.MessageRef) []string {
	var ids []string
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// say is a step that answers, after it did something.
func say(text string, first ...func()) func() llmtest.Step {
	return step(llmtest.Text(text), first...)
}

// use is a step that calls tools, after it did something.
func use(names []string, first ...func()) func() llmtest.Step {
	var calls []llmtest.Call
	for _, name := range names {
		calls = append(calls, llmtest.Call{Name: name, Arguments: "{}"})
	}
	return step(llmtest.Calls(calls...), first...)
}

// look is a step that calls the tool look, after it did something.
func look(first ...func()) func() llmtest.Step { return use([]string{"look"}, first...) }

// hang is a step that does something and never answers.
func hang(first ...func()) func() llmtest.Step { return step(llmtest.Hang(), first...) }

func step(s llmtest.Step, first ...func()) func() llmtest.Step {
	return func() llmtest.Step {
		for _, f := range first {
			f()
		}
		return s
	}
}
