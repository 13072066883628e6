package dingtalk

import (
	"context"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Check implements [chat.Checker]. It opens no stream: that would receive messages meant for
// the running process.
func (p *platform) Check(ctx context.Context) []chat.Finding {
	_, err := p.token.Get(ctx)
	failed := remote.As(err)
	switch {
	case err == nil && p.o.CardTemplate != "":
		return []chat.Finding{chat.Passed("the app %s is known to DingTalk; replies are cards of the template %s", p.o.ClientID, p.o.CardTemplate)}
	case err == nil:
		return []chat.Finding{chat.Passed("the app %s is known to DingTalk; replies are plain messages", p.o.ClientID)}
	case failed == nil || failed.Status == 0:
		at := chat.Endpoint{Platform: "DingTalk", URL: p.o.APIURL, Setting: "channels.dingtalk.api_url", Needs: "https and wss to *.dingtalk.com"}
		return []chat.Finding{at.Unreached(err)}
	}
	return []chat.Finding{chat.Failed("copy the Client ID and Client Secret again (open-dev.dingtalk.com, the app, Credentials) into DINGTALK_CLIENT_ID and DINGTALK_CLIENT_SECRET",
		"DingTalk rejects the credentials: %v", err)}
}
