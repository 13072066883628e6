package store_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// BenchmarkSQLite measures what the store adds to a message, in a session that
// has a full window of history. The disk's sync is part of it.
func BenchmarkSQLite(b *testing.B) {
	b.Run("accept", func(b *testing.B) {
		s := openBench(b)
		for i := 0; b.Loop(); i++ {
			benchAccept(b, s, fmt.Sprint("m", i))
		}
	})
	b.Run("begin", func(b *testing.B) {
		s := openBench(b)
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			id := fmt.Sprint("m", i)
			benchAccept(b, s, id)
			b.StartTimer()
			benchBegin(b, s, id)
			b.StopTimer()
			benchComplete(b, s, id)
			b.StartTimer()
		}
	})
	b.Run("begin and complete", func(b *testing.B) {
		s := openBench(b)
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			id := fmt.Sprint("m", i)
			benchAccept(b, s, id)
			b.StartTimer()
			benchBegin(b, s, id)
			benchComplete(b, s, id)
		}
	})
	b.Run("whole message, many at once", func(b *testing.B) {
		s := openBench(b)
		var n atomic.Int64
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				id := fmt.Sprint("m", n.Add(1))
				benchAccept(b, s, id)
				benchBegin(b, s, id)
				benchComplete(b, s, id)
			}
		})
	})
}

func openBench(b *testing.B) *store.Store {
	b.Helper()
	s, err := store.Open(b.Context(), store.Options{DSN: sqlite(b)})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	for i := range 50 {
		id := fmt.Sprint("old", i)
		benchAccept(b, s, id)
		benchBegin(b, s, id)
		benchComplete(b, s, id)
	}
	return s
}

func benchAccept(b *testing.B, s *store.Store, id string) {
	_, _, err := s.Accept(b.Context(), domain.Inbound{ID: id, Session: "http:a", Channel: "http", Chat: "a", Text: strings.Repeat("hello ", 20)})
	require.NoError(b, err)
}

func benchBegin(b *testing.B, s *store.Store, id string) {
	_, err := s.Begin(b.Context(), store.BeginInput{
		Session: "http:a", Channel: "http", Turn: id, Step: 1, Messages: []string{id}, Window: 100,
	})
	require.NoError(b, err)
}

func benchComplete(b *testing.B, s *store.Store, id string) {
	_, _, err := s.SaveCompletion(b.Context(), store.Completion{
		Turn: id, Step: 1, Message: domain.Message{Content: strings.Repeat("answer ", 50)}, Provider: "openai", Model: "m",
		Usage: domain.Usage{PromptTokens: 1, CompletionTokens: 1}, Prompt: strings.Repeat("prompt ", 1000), Final: true, Reply: "answer",
	})
	require.NoError(b, err)
}
