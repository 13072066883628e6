package domain

// ChatRequest is a message of a client that sends all of a conversation with it.
type ChatRequest struct {
	Channel string
	Message string    // the platform's ID of the message, if it is new
	New     string    // name of the chat, if it is new
	Named   bool      // the client names the chat: New
	Request string    // hash of the request; one that is repeated has the same
	Before  string    // hash of what was said before; empty: nothing
	Earlier []Message // what was said before: users' and assistants' messages, in order
}

// Chat is the chat that a [ChatRequest] belongs to.
type Chat struct {
	Name    string
	Message string // the platform's ID of the message
}
