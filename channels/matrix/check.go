package matrix

import (
	"context"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// maxChecked bounds the rooms that a check looks at.
const maxChecked = 100

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	return chat.Words{
		Group:      "room",
		FindPerson: "a person's ID is in their profile, such as @ana:example.org",
		FindGroup:  "a room's ID is in its settings, under Advanced",
	}
}

// Check implements [chat.Checker].
func (p *platform) Check(ctx context.Context) []chat.Finding {
	self, err := p.whoAmI(ctx)
	if err != nil {
		return []chat.Finding{p.unusable(err)}
	}
	findings := []chat.Finding{chat.Passed("connected as %s, device %s", self.ID, self.Device)}
	var answer struct {
		Rooms []string `json:"joined_rooms"`
	}
	if err := p.call(ctx, request{name: "list rooms", path: "/_matrix/client/v3/joined_rooms"}, &answer); err != nil {
		return append(findings, p.unusable(err))
	}
	if len(answer.Rooms) == 0 {
		return append(findings, chat.Warned("invite "+self.ID+" to a room without encryption", "the account is in no room"))
	}
	for _, id := range answer.Rooms[:min(len(answer.Rooms), maxChecked)] {
		if err := p.call(ctx, request{name: "look at a room", path: roomPath(id, "state", typeEncryption)}, nil); err == nil {
			findings = append(findings, chat.Warned("invite the bot to a room without encryption, which cannot be turned off again",
				"the room %s is encrypted: nothing in it can be read", id))
		}
	}
	return findings
}

// unusable returns the finding for a call that failed.
func (p *platform) unusable(err error) chat.Finding {
	if codeOf(err) == codeUnknownToken {
		return chat.Failed("log the account in again (docs/matrix.md) and set MATRIX_ACCESS_TOKEN", "the homeserver rejects the access token: %v", err)
	}
	at := chat.Endpoint{Platform: "a Matrix homeserver", URL: p.homeserver, Setting: "channels.matrix.homeserver", Needs: "https to the homeserver"}
	return at.Unreached(err)
}
