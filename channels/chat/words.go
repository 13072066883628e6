package chat

// Worded is a [Platform] whose words differ from the core's, or that can tell an operator
// where to find IDs.
type Worded interface{ Words() Words }

// Words are what a platform calls things, and where its IDs are found.
type Words struct {
	// Group is a chat with several people: "channel", "group" or "room". The setting that
	// lists the allowed ones is allow_ and the plural. Empty: there are none.
	Group      string
	FindPerson string // "find a user ID in …"
	FindGroup  string
}

// wordsOf returns the words of a platform.
func wordsOf(p any) Words {
	if worded, ok := p.(Worded); ok {
		return worded.Words()
	}
	return Words{Group: "channel", FindPerson: "the log shows the ID of who was refused", FindGroup: "the log shows the ID of a channel that was refused"}
}

// allow returns the setting that lists the allowed groups.
func (w Words) allow() string { return "allow_" + w.Group + "s" }
