package feishu

import (
	"encoding/json"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// object is a JSON object.
type object = map[string]any

// The marks of our cards: the ID of their first element tells which message in the outbox a
// card is, or stands for. Such IDs have at most 20 letters, digits and underscores.
const (
	markFinal = "hf_"
	markDraft = "hd_"
	markSize  = 16 // digits
)

// markOf returns the mark of a message; empty if it has no ID.
func markOf(msg chat.Message) string {
	switch {
	case msg.ID == "":
		return ""
	case msg.Draft:
		return markDraft + idDigits(msg.ID)
	}
	return markFinal + idDigits(msg.ID)
}

// idDigits returns digits that stand for an outbox ID, whether it is a draft's or not.
func idDigits(id string) string { return chat.Message{ID: id}.Key()[:markSize] }

// cardOf returns a message as a card, JSON 2.0. image is the key of a picture above the
// text; empty: none.
func (p *platform) cardOf(at chat.Place, msg chat.Message, image string) object {
	var elements []object
	if image != "" {
		elements = append(elements, object{"tag": "img", "img_key": image, "alt": plainText(msg.File)})
	}
	if msg.Text != "" {
		elements = append(elements, object{"tag": "markdown", "content": p.shown(msg)})
	}
	if msg.Note != "" {
		elements = append(elements, p.note(msg))
	}
	if len(elements) == 0 {
		elements = append(elements, object{"tag": "markdown", "content": "…"})
	}
	if mark := markOf(msg); mark != "" {
		elements[0]["element_id"] = mark
	}
	if len(msg.Buttons) > 0 {
		elements = append(elements, buttonsOf(at, msg.Buttons))
	}
	return object{
		"schema": "2.0",
		"config": object{"update_multi": true, "summary": object{"content": text.CutRunes(text.Line(msg.Text), 60)}},
		"body":   object{"elements": elements},
	}
}

// shown returns a message's text as a card shows it.
func (p *platform) shown(msg chat.Message) string {
	shown := rendered(msg.Text)
	if !msg.Draft {
		shown = p.withMentions(shown)
	}
	if msg.Approval != "" {
		shown = withApprovers(shown)
	}
	return shown
}

// note returns what a card shows below its text. A draft's is not markup: it may have a
// tool's arguments.
func (p *platform) note(msg chat.Message) object {
	if !msg.Draft {
		return object{"tag": "markdown", "text_size": "notation", "content": withApprovers(quiet(msg.Note))}
	}
	note := plainText(msg.Note)
	note["text_size"], note["text_color"] = "notation", "grey"
	return object{"tag": "div", "text": note}
}

// plainCard returns a message as a card without markup, for when the platform refuses it
// with.
func plainCard(at chat.Place, msg chat.Message) object {
	shown := strings.TrimSpace(msg.Text + "\n\n" + msg.Note)
	element := object{"tag": "div", "text": plainText(shown)}
	if mark := markOf(msg); mark != "" {
		element["element_id"] = mark
	}
	elements := []object{element}
	if len(msg.Buttons) > 0 {
		elements = append(elements, buttonsOf(at, msg.Buttons))
	}
	return object{"schema": "2.0", "config": object{"update_multi": true}, "body": object{"elements": elements}}
}

func plainText(s string) object { return object{"tag": "plain_text", "content": s} }

var buttonTypes = map[chat.Action]string{chat.ActionApprove: "primary", chat.ActionDeny: "danger", chat.ActionStop: "default"}

func buttonsOf(at chat.Place, buttons []chat.Button) object {
	var columns []object
	for _, b := range buttons {
		value := buttonValue{Action: string(b.Action), Value: b.Value, Chat: at.Chat, Thread: at.Thread}
		columns = append(columns, object{"tag": "column", "width": "auto", "elements": []object{{
			"tag": "button", "type": buttonTypes[b.Action], "text": plainText(b.Label),
			"behaviors": []object{{"type": "callback", "value": value}},
		}}})
	}
	return object{"tag": "column_set", "flex_mode": "none", "columns": columns}
}

// encoded returns JSON as a string, as the API wants content.
func encoded(content any) string {
	b, _ := json.Marshal(content) // made here, of what JSON can encode
	return string(b)
}
