package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// chatRequest is a request with the messages "one" and its answer before.
func chatRequest(id, request, before string) domain.ChatRequest {
	return domain.ChatRequest{
		Channel: "http", Message: id, New: "chat-" + id, Request: request, Before: before,
		Earlier: []domain.Message{{Role: domain.RoleAssistant, Content: "Welcome"}, {Role: domain.RoleUser, Content: "one"}, {Role: domain.RoleAssistant, Content: "uno"}},
	}
}

func chats(t *testing.T, b *bundle) {
	open := func(in domain.ChatRequest) domain.Chat {
		t.Helper()
		chat, err := b.OpenChat(t.Context(), in)
		require.NoError(t, err)
		return chat
	}
	first := open(chatRequest("a", "r1", "h1"))
	require.Equal(t, domain.Chat{Name: "chat-a", Message: "a"}, first)
	transcript, err := b.Transcript(t.Context(), "http:chat-a", -1, 0)
	require.NoError(t, err)
	require.Len(t, transcript, 2, "models want a user's message first")
	require.Equal(t, "one", transcript[0].Content)
	require.Equal(t, "uno", transcript[1].Content)

	require.Equal(t, first, open(chatRequest("b", "r1", "h1")), "it is repeated")
	require.Equal(t, "chat-c", open(chatRequest("c", "r2", "h1")).Name, "the other request has not been answered")
	require.NoError(t, b.AnsweredChat(t.Context(), "http:chat-a", "r1", "h2"))
	require.Equal(t, first, open(chatRequest("d", "r1", "h1")), "the answer was not received")
	require.NoError(t, b.ReceivedChat(t.Context(), "http:chat-a", "r1"))
	require.Equal(t, "chat-e", open(chatRequest("e", "r1", "h1")).Name, "it is asked again")

	require.Equal(t, domain.Chat{Name: "chat-a", Message: "f"}, open(chatRequest("f", "r3", "h2")), "it continues")
	require.Equal(t, "chat-g", open(chatRequest("g", "r4", "h2")).Name, "another request continues the chat")
	require.NoError(t, b.ReceivedChat(t.Context(), "http:chat-a", "r1"), "too late to matter")
	require.Equal(t, "chat-a", open(chatRequest("h", "r3", "h2")).Name)

	named := chatRequest("i", "r5", "h2")
	named.New, named.Named = "mine", true
	for range 2 {
		require.Equal(t, domain.Chat{Name: "mine", Message: "i"}, open(named))
	}
	transcript, err = b.Transcript(t.Context(), "http:mine", -1, 0)
	require.NoError(t, err)
	require.Len(t, transcript, 2)
}

// chatRace has requests that all continue the same chat: one does, the others get chats of
// their own.
func chatRace(t *testing.T, b *bundle) {
	_, err := b.OpenChat(t.Context(), chatRequest("a", "r", ""))
	require.NoError(t, err)
	require.NoError(t, b.AnsweredChat(t.Context(), "http:chat-a", "r", "h"))
	require.NoError(t, b.ReceivedChat(t.Context(), "http:chat-a", "r"))
	found := make(chan string)
	const requests = 8
	for i := range requests {
		go func() {
			id := string(rune('b' + i))
			chat, err := b.OpenChat(t.Context(), chatRequest(id, "r"+id, "h"))
			if err != nil {
				chat.Name = err.Error()
			}
			found <- chat.Name
		}()
	}
	names := map[string]bool{}
	for range requests {
		names[<-found] = true
	}
	require.Len(t, names, requests)
	require.Contains(t, names, "chat-a")
}
