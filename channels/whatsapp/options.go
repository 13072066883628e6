package whatsapp

import (
	"cmp"
	"log/slog"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Name is the channel's name.
const Name = "whatsapp"

// Options are the settings of the channel. See config.WhatsApp for what they mean.
type Options struct {
	chat.Options
	PhoneNumberID string
	AccessToken   string
	AppSecret     string
	VerifyToken   string
	Listen        string // host:port
	Path          string // such as /whatsapp
	APIURL        string // with the version; empty: Meta's own
	// ReportWait is how long the report is waited for that a message was sent, if the answer to
	// the call was lost; 0: a minute.
	ReportWait time.Duration
}

func (o Options) withDefaults() Options {
	o.APIURL = strings.TrimSuffix(cmp.Or(o.APIURL, "https://graph.facebook.com/v23.0"), "/")
	o.ReportWait = cmp.Or(o.ReportWait, time.Minute)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Respond, o.CommandPrefix, o.Drafts = chat.RespondAll, "/", false
	users := make([]string, len(o.Users))
	for i, user := range o.Users {
		users[i] = plainNumber(user)
	}
	o.Users = users
	return o
}

var numberSigns = strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "")

// plainNumber returns a phone number as WhatsApp writes it, without signs. Other IDs stay
// as they are.
func plainNumber(id string) string {
	if plain := numberSigns.Replace(id); isNumber(plain) {
		return plain
	}
	return id
}

// isNumber reports whether an ID is a phone number, not one of Meta's IDs of a person.
func isNumber(id string) bool {
	return id != "" && strings.Trim(id, "0123456789") == ""
}
