package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	maxListed  = 10 // items of a list: platforms limit the size of an answer
	maxPreview = 80 // characters of a preview
)

// mention refers to the sender of a message.
func (h *handler) mention(msg domain.Inbound) string {
	if markup, ok := h.platform.(Markup); ok {
		return markup.Mention(msg.Sender)
	}
	return msg.SenderName
}

// preview returns the beginning of a text on one line.
func (h *handler) preview(s string) string {
	return h.escape(text.CutRunes(text.Line(s), maxPreview+1))
}

// escape escapes text for the platform's markup.
func (h *handler) escape(text string) string {
	if markup, ok := h.platform.(Markup); ok {
		return markup.Escape(text)
	}
	return text
}

// list formats the first items of a list.
func list[T any](items []T, line func(T) string) string {
	var b strings.Builder
	for i, item := range items {
		if i == maxListed {
			fmt.Fprintf(&b, "\n… and %d more", len(items)-i)
			break
		}
		b.WriteString("\n• " + line(item))
	}
	return b.String()
}

func age(since time.Time) string {
	passed := max(0, time.Since(since))
	if passed < time.Minute {
		return passed.Truncate(time.Second).String()
	}
	return strings.TrimSuffix(passed.Truncate(time.Minute).String(), "0s")
}
