package openai

import (
	"bytes"
	"encoding/json"
)

// content is the text of a message: a string, or a list of parts, some of which
// are thinking.
type content struct{ text, thinking string }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, &c.text)
	}
	type part struct {
		Text string `json:"text"`
	}
	var parts []struct {
		part
		Thinking []part `json:"thinking"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += p.Text
		for _, thought := range p.Thinking {
			c.thinking += thought.Text
		}
	}
	return nil
}

// arguments are a tool call's: a string with JSON in it, or the JSON itself.
type arguments string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *arguments) UnmarshalJSON(data []byte) error {
	*a = arguments(textOf(data))
	return nil
}
