package domain

import "time"

// Inbound is a message from a channel. The channel fills in the fields up to Queue;
// accepting the message sets the rest.
type Inbound struct {
	Channel    string // name of the channel: "http", "slack"
	Scope      string // part of the channel within which PlatformID is unique; empty: the whole channel; not stored
	PlatformID string // the platform's ID of the message; the same ID again is a redelivery
	Chat       string // the platform's ID of the chat
	Thread     string // the platform's ID of the thread; empty outside threads
	Sender     string // the platform's ID of the author
	SenderName string
	Text       string
	SentAt     time.Time // as the platform says; zero: now
	Files      []File    // attachments, fetched later by the channel
	Push       bool      // the reply is delivered through the channel; false: the client fetches it
	Queue      bool      // the message never joins a running turn

	ID         string // our ID, see [MessageID]
	Session    string // session key
	Seq        int64  // increases in the order of acceptance within a session
	Previous   int64  // on acceptance: the highest Seq among the session's unconsumed messages before it; 0: none
	Command    Command
	AcceptedAt time.Time
	Turn       string    // the turn that consumed it; empty: none yet
	Enriched   *Enriched // nil: not enriched yet
	Child      string    // call key of the subagent whose report this is
	Job        string    // ID of the job that sent it
}

// File is an attachment as the platform describes it.
type File struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime"`
	Size int64  `json:"size"` // bytes
	URL  string `json:"url"`  // where the channel fetches it
	// Transcribed is set for audio if what is said in it is in the message's text: the
	// platform transcribed it.
	Transcribed bool `json:"transcribed,omitempty"`
}

// Enriched is the data that a channel adds to a message after it was accepted.
type Enriched struct {
	Text       string      `json:"text"` // the message as the model reads it
	SenderName string      `json:"sender_name,omitempty"`
	Zone       string      `json:"zone,omitempty"` // IANA name of the sender's time zone
	Files      []SavedFile `json:"files,omitempty"`
	// Instructions are for the model, from the program that sent the message.
	Instructions string `json:"instructions,omitempty"`
}

// SavedFile is an attachment that was downloaded.
type SavedFile struct {
	Name string `json:"name"`
	MIME string `json:"mime"`
	Path string `json:"path"` // in the workspace, which may be elsewhere on another machine
	// Transcribed is that of the [File].
	Transcribed bool `json:"transcribed,omitempty"`
}

// Route returns where the message's reply goes.
func (in Inbound) Route() Route {
	return Route{Channel: in.Channel, Chat: in.Chat, Thread: in.Thread, Sender: in.Sender, Push: in.Push}
}

// IsOurs reports whether Holdfast wrote the message itself: a job's or a subagent's report.
func (in Inbound) IsOurs() bool { return in.Job != "" || in.Child != "" }

// Name returns the sender's name; empty if unknown.
func (in Inbound) Name() string {
	if in.Enriched != nil && in.Enriched.SenderName != "" {
		return in.Enriched.SenderName
	}
	return in.SenderName
}
