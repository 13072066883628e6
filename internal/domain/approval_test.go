package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"/approve":             {"approve", ""},
		"/approve `K3JD82LS`.": {"approve", "k3jd82ls"},
		"/deny what is this":   {"deny", "what is this"},
		"yes":                  {"approve", ""},
		" Yes! ":               {"approve", ""},
		"N":                    {"deny", ""},
		"deny k3jd52ls":        {"deny", "k3jd52ls"},
		"approve document":     {"approve", "document"}, // an ID by its form: there has to be such a question
		"approve the change":   {"", ""},
		"yes please":           {"", ""},
		"yesterday":            {"", ""},
		"":                     {"", ""},
		"/status":              {"status", ""},
	} {
		command, id := domain.ParseAnswer(text)
		require.Equal(t, want, [2]string{string(command), id}, text)
	}
}
