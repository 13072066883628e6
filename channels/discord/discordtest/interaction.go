package discordtest

import (
	"context"
	"time"
)

// Interaction is a slash command or a click.
type Interaction struct {
	ID, Token string
	server    *Server
	event     map[string]any
	until     time.Time // it is to be answered
	answered  int       // the type of the first answer; 0: none
	texts     []string  // of the answers, which only the caller sees
}

// Click has somebody click on a button of a message.
func (s *Server) Click(user, channel, message, customID string) *Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interact(user, channel, 3, map[string]any{"component_type": 2, "custom_id": customID}, asMap(s.message(channel, message)))
}

// Command has somebody give a slash command, with an argument if that is not empty.
func (s *Server) Command(user, channel, name, argument string) *Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := map[string]any{"id": "1", "name": name, "type": 1}
	if argument != "" {
		data["options"] = []any{map[string]any{"name": "argument", "type": 3, "value": argument}}
	}
	return s.interact(user, channel, 2, data, nil)
}

func (s *Server) interact(user, channel string, kind int, data, message map[string]any) *Interaction {
	c := s.channels[channel]
	i := &Interaction{ID: s.mint(), server: s, until: time.Now().Add(s.interaction)}
	i.Token = "token-" + i.ID
	i.event = map[string]any{
		"id": i.ID, "application_id": Application, "type": kind, "token": i.Token, "version": 1, "data": data, "channel_id": channel, "channel": c,
		"locale": "en-US", "entitlements": []any{}, "authorizing_integration_owners": map[string]any{}, "context": 0, "app_permissions": "0", "attachment_size_limit": 10 << 20,
	}
	if message != nil {
		i.event["message"] = message
	}
	if c.Type == TypeDirect {
		i.event["user"] = s.users[user]
	} else {
		member := s.member(user)
		member["permissions"] = "0"
		i.event["guild_id"], i.event["member"] = Guild, member
	}
	s.interactions[i.Token] = i
	s.dispatch("INTERACTION_CREATE", 0, i.event)
	return i
}

// Redeliver delivers the interaction again.
func (i *Interaction) Redeliver() {
	i.server.mu.Lock()
	defer i.server.mu.Unlock()
	i.server.dispatch("INTERACTION_CREATE", 0, i.event)
}

// Answer waits for the last answer, and returns the type of the first and the text.
func (i *Interaction) Answer(ctx context.Context) (kind int, text string, err error) {
	err = i.server.await(ctx, func() bool {
		kind = i.answered
		if len(i.texts) > 0 {
			text = i.texts[len(i.texts)-1]
		}
		return kind == 4 || kind == 6 || kind == 5 && text != ""
	})
	return kind, text, err
}

// Texts returns what the caller was told.
func (i *Interaction) Texts() []string {
	i.server.mu.Lock()
	defer i.server.mu.Unlock()
	return append([]string{}, i.texts...)
}

func (c *call) callback() (any, error) {
	i := c.interactions[c.r.PathValue("token")]
	kind, _ := c.body["type"].(float64)
	switch {
	case i == nil || i.ID != c.r.PathValue("interaction") || time.Now().After(i.until):
		return nil, refuse(404, 10062, "Unknown interaction")
	case i.answered != 0:
		return nil, refuse(400, 40060, "Interaction has already been acknowledged.")
	}
	i.answered = int(kind)
	data, _ := c.body["data"].(map[string]any)
	if kind == 4 {
		content, _ := data["content"].(string)
		if content == "" || len([]rune(content)) > 2000 {
			i.answered = 0
			return nil, refuse(400, 50035, "Invalid Form Body: content")
		}
		i.texts = append(i.texts, content)
	}
	return nil, nil
}

// later returns the interaction whose answer is changed or followed by another.
func (c *call) later() (*Interaction, error) {
	i := c.interactions[c.r.PathValue("token")]
	if i == nil || i.answered == 0 {
		return nil, refuse(404, 10015, "Unknown Webhook")
	}
	return i, nil
}

func (c *call) original() (any, error) {
	i, err := c.later()
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": i.ID, "content": append(i.texts, "")[0]}, nil
}

func (c *call) editOriginal() (any, error) { return c.say() }

func (c *call) followUp() (any, error) { return c.say() }

func (c *call) say() (any, error) {
	i, err := c.later()
	if err != nil {
		return nil, err
	}
	i.texts = append(i.texts, c.text("content"))
	return map[string]any{"id": c.mint(), "content": c.text("content"), "channel_id": General, "author": c.users[Self], "timestamp": time.Now().UTC().Format(time.RFC3339)}, nil
}

func (c *call) register() (any, error) {
	command := c.body
	command["id"], command["application_id"], command["version"] = c.mint(), Application, "1"
	for n, known := range c.commands {
		if known["name"] == command["name"] {
			c.commands[n] = command
			return command, nil
		}
	}
	c.commands = append(c.commands, command)
	return command, nil
}

func (c *call) registerAll() (any, error) {
	c.commands = nil
	list, _ := c.body["list"].([]any)
	for _, item := range list {
		c.body, _ = item.(map[string]any)
		if _, err := c.register(); err != nil {
			return nil, err
		}
	}
	return orEmpty(c.commands), nil
}

// Commands returns the names of the commands that are registered.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{}
	for _, c := range s.commands {
		name, _ := c["name"].(string)
		names = append(names, name)
	}
	return names
}

// Forget makes the server forget all nonces, as after a few minutes.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.nonces)
}
