package slack

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
	{"channels:history", "messages in public channels are not seen unless they mention the bot, threads cannot be read, and a reply that a crash interrupted waits"},
	{"channels:read", "public channels have IDs for names, and the message tool cannot reach them"},
	{"chat:write", "nothing can be answered"},
	{"commands", "there is no /holdfast and no shortcut"},
	{"files:read", "attached files cannot be read"},
	{"files:write", "files cannot be sent"},
	{"groups:history", "messages in private channels are not seen unless they mention the bot, threads cannot be read, and a reply that a crash interrupted waits"},
	{"groups:read", "private channels have IDs for names, and the message tool cannot reach any channel by its name"},
	{"im:history", "direct messages are not seen"},
	{"im:write", "nobody can be sent a direct message who did not write one first"},
	{"mpim:history", "messages in group direct messages are not seen"},
	{"reactions:write", "no reaction says that a message is seen"},
	{"users:read", "people have IDs for names, their time zones are unknown, and the message tool cannot reach them"},
}
