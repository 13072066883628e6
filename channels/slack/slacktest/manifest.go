package slacktest

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// manifest has the fields that validateManifest checks.
type manifest struct {
	Display struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"display_information"`
	Features struct {
		AgentView     *agentView      `json:"agent_view"`
		AssistantView json.RawMessage `json:"assistant_view"`
		Commands      *[]struct {
			URL string `json:"url"`
		} `json:"slash_commands"`
	} `json:"features"`
	OAuth struct {
		Scopes struct {
			Bot []string `json:"bot"`
		} `json:"scopes"`
	} `json:"oauth_config"`
	Settings struct {
		Socket bool `json:"socket_mode_enabled"`
		Events struct {
			URL string   `json:"request_url"`
			Bot []string `json:"bot_events"`
		} `json:"event_subscriptions"`
		Interactivity struct {
			Enabled bool   `json:"is_enabled"`
			URL     string `json:"request_url"`
		} `json:"interactivity"`
	} `json:"settings"`
}

type agentView struct {
	Description string `json:"agent_description"`
	Prompts     []struct {
		Title   string `json:"title"`
		Message string `json:"message"`
	} `json:"suggested_prompts"`
}

// eventScopes are the scopes required by event subscriptions.
var eventScopes = map[string]string{
	"app_mention": "app_mentions:read", "message.channels": "channels:history", "message.groups": "groups:history",
	"message.im": "im:history", "message.mpim": "mpim:history",
}

// validateManifest applies the checks that Slack applies to a new app.
func (s *Server) validateManifest(r *request) (reply, error) {
	var m manifest
	if err := json.Unmarshal([]byte(r.arguments["manifest"]), &m); err != nil {
		return nil, &problem{"invalid_manifest", reply{"errors": []reply{{"message": err.Error(), "pointer": "/"}}}}
	}
	if errors := m.problems(); errors != nil {
		return nil, &problem{"invalid_manifest", reply{"errors": errors}}
	}
	return reply{"errors": []reply{}}, nil
}

func (m *manifest) problems() []reply {
	var found []reply
	check := func(ok bool, pointer, message string) {
		if !ok {
			found = append(found, reply{"message": message, "pointer": pointer})
		}
	}
	view, scopes, socket := m.Features.AgentView, m.OAuth.Scopes.Bot, m.Settings.Socket
	check(m.Display.Name != "" && utf8.RuneCountInString(m.Display.Name) <= 35, "/display_information/name", "Must be 1 to 35 characters")
	check(utf8.RuneCountInString(m.Display.Description) <= 140, "/display_information/description", "Must be at most 140 characters")
	check(m.Features.AssistantView == nil, "/features/assistant_view", "New apps must use agent_view")
	check(view != nil || !slices.Contains(scopes, "assistant:write"), "/oauth_config/scopes/bot", "Assistant:write scope should include agent_view feature")
	if view != nil {
		check(slices.Contains(scopes, "assistant:write"), "/features/agent_view", "Agent View requires the assistant:write scope")
		check(slices.Contains(m.Settings.Events.Bot, "message.im"), "/features/agent_view", "Agent View should use message.im bot event subscription")
		check(view.Description != "" && utf8.RuneCountInString(view.Description) <= 300, "/features/agent_view/agent_description", "Must be 1 to 300 characters")
		check(len(view.Prompts) <= 4, "/features/agent_view/suggested_prompts", "Must have at most 4 items")
		for _, p := range view.Prompts {
			check(p.Title != "" && p.Message != "", "/features/agent_view/suggested_prompts", "Requires title and message")
		}
	}
	if commands := m.Features.Commands; commands != nil {
		check(len(*commands) > 0, "/features/slash_commands", "Must have at least 1 item")
		for _, c := range *commands {
			check(socket || c.URL != "", "/features/slash_commands", "Slash command requires a URL")
		}
	}
	for _, event := range m.Settings.Events.Bot {
		scope := eventScopes[event]
		check(scope == "" || slices.Contains(scopes, scope), "/settings/event_subscriptions/bot_events", fmt.Sprintf("%s requires the scope %s", event, scope))
	}
	check(socket || m.Settings.Events.URL != "" || len(m.Settings.Events.Bot) == 0, "/settings/event_subscriptions", "Event Subscription requires either Request URL or Socket Mode Enabled")
	check(socket || m.Settings.Interactivity.URL != "" || !m.Settings.Interactivity.Enabled, "/settings/interactivity", "Interactivity requires a Request URL")
	return found
}
