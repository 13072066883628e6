package discord

import (
	"encoding/hex"
	"regexp"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Messages have no field for data of ours, and the nonce is not in the history. So each ends
// with a mark of characters that are not shown, by which it is found again: four for each
// byte of the beginning of its key.
const (
	markBytes  = 6
	markLength = markBytes * 4
)

// invisible are the characters of a mark, which stand for two bits each.
var invisible = [4]rune{'\u200b', '\u200c', '\u2060', '\u2063'}

var markAtEnd = regexp.MustCompile(`[\x{200b}\x{200c}\x{2060}\x{2063}]{24}$`)

// markOf returns the mark of a message; empty without an ID, as it is not looked for.
func markOf(msg chat.Message) string {
	if msg.ID == "" {
		return ""
	}
	key, _ := hex.DecodeString(msg.Key()) // it always is
	var mark []rune
	for _, b := range key[:markBytes] {
		mark = append(mark, invisible[b>>6], invisible[b>>4&3], invisible[b>>2&3], invisible[b&3])
	}
	return string(mark)
}

// unmarked returns a content without its mark.
func unmarked(content string) string { return markAtEnd.ReplaceAllString(content, "") }
