package slack

import _ "embed" // for the manifest

// Manifest is the manifest (YAML) of the Slack app that the channel needs, as
// Slack's "Create New App" takes it.
//
//go:embed manifest.yaml
var Manifest string

// Scope is a permission of the bot token.
type Scope struct {
	Name string
	Why  string // what does not work without it
}

// Scopes are the permissions that [Manifest] asks for, in order of their names.
// [Identity.Scopes] are those that a token has.
var Scopes = []Scope{
	{"app_mentions:read", "mentions are seen only where the bot can read all messages"},
	{"assistant:write", "no status is shown below a thread while the agent works; a reaction is"},
	{"channels:history", "messages in public channels are not seen unless they mention the bot, threads cannot be read, and a reply may be posted twice after a crash"},
	{"channels:read", "public channels have IDs for names"},
	{"chat:write", "nothing can be answered"},
	{"commands", "there is no /holdfast and no shortcut"},
	{"files:read", "attached files cannot be read"},
	{"files:write", "files cannot be sent"},
	{"groups:history", "messages in private channels are not seen unless they mention the bot, threads cannot be read, and a reply may be posted twice after a crash"},
	{"groups:read", "private channels have IDs for names"},
	{"im:history", "direct messages are not seen"},
	{"im:write", "nobody can be sent a direct message who did not write one first"},
	{"mpim:history", "messages in group direct messages are not seen"},
	{"reactions:write", "no reaction says that a message is seen"},
	{"users:read", "people have IDs for names, and their time zones are unknown"},
}
