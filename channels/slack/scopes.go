package slack

// Scope is a permission of the bot token.
type Scope struct {
	Name string
	Why  string // what does not work without it
}

// Scopes are the permissions that [Manifest] asks for without the agent view, in
// order of their names. [Identity.Scopes] are the ones a token was granted.
var Scopes = []Scope{
	{"app_mentions:read", "mentions are seen only where the bot can read every message"},
	{"channels:history", "messages in public channels are seen only if they mention the bot, threads cannot be read, and a reply interrupted by a crash is delayed"},
	{"channels:read", "public channels appear by ID, and the message tool cannot reach them"},
	{"chat:write", "the bot cannot answer"},
	{"commands", "/holdfast and the shortcut do not exist"},
	{"files:read", "attached files cannot be read"},
	{"files:write", "files cannot be sent"},
	{"groups:history", "messages in private channels are seen only if they mention the bot, threads cannot be read, and a reply interrupted by a crash is delayed"},
	{"groups:read", "private channels appear by ID, and the message tool cannot find any channel by name"},
	{"im:history", "direct messages are not seen"},
	{"im:write", "the bot cannot send a direct message to someone who has not written first"},
	{"mpim:history", "messages in group direct messages are not seen"},
	{"reactions:write", "no reaction marks a message as seen"},
	{"usergroups:read", "user groups in allow_users include no one"},
	{"users:read", "people appear by ID without a time zone, the message tool cannot reach them, and \"*\" in allow_users includes no one"},
}

// agentScope is the further permission of the agent view.
var agentScope = Scope{"assistant:write", "threads of direct messages have no titles"}
