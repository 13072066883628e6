package chat

import (
	"cmp"
	"log/slog"
	"strings"
)

// The values of [ReceiverOptions.Respond]: which messages in chats with several people
// are answered. Direct messages always are.
const (
	RespondMention = "mention" // those that mention us
	RespondThread  = "thread"  // those, and all in threads that we take part in
	RespondAll     = "all"     // all
)

// Access lists who is answered, by the platform's IDs. [channels.Anyone] stands for all
// users or chats, but not for all bots: two bots that answer each other never stop. On a
// platform with a [Roster] it stands for the members of the workspace only.
type Access struct {
	Users []string // and groups, on a platform with a [Roster]
	Chats []string // where users are answered, in addition to direct messages; without workspace
	Bots  []string
}

// ReceiverOptions are the settings of a [Receiver].
type ReceiverOptions struct {
	Access
	Respond string // such as [RespondMention]
	// RespondIn has the chats in which it is another; without workspace, in lower case.
	RespondIn     map[string]string
	CommandPrefix string // typed before the name of a command, such as "/"
	Logger        *slog.Logger
}

// EnricherOptions are the settings of an [Enricher].
type EnricherOptions struct {
	Access
	FileLimit int64  // bytes of an attached file
	Respond   string // as in [ReceiverOptions], like RespondIn
	RespondIn map[string]string
}

// respondIn returns which messages are answered in a chat.
func respondIn(chats map[string]string, chat, otherwise string) string {
	return cmp.Or(chats[strings.ToLower(bare(chat))], otherwise)
}
