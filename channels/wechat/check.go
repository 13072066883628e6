package wechat

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	return chat.Words{FindPerson: "the log shows the ID of who was refused"}
}

// Check implements [chat.Checker].
func (p *platform) Check(ctx context.Context) []chat.Finding {
	const logIn = "run `holdfast wechat login`"
	account, err := p.Account(ctx)
	switch {
	case err != nil:
		return []chat.Finding{chat.Failed(logIn, "the login cannot be read: %v", err)}
	case account.Token == "":
		return []chat.Finding{chat.Failed(logIn, "nobody has logged in")}
	}
	expired := chat.Failed(logIn, "the login of %s has expired", account.BotID)
	if account.Expired() {
		return []chat.Finding{expired}
	}
	err = p.client.call(ctx, account, "getconfig", map[string]any{"ilink_user_id": account.UserID}, nil)
	failed := remote.As(err)
	switch {
	case errors.Is(err, errLoginExpired):
		return []chat.Finding{expired}
	case failed != nil && failed.Status == http.StatusServiceUnavailable: // it answers
	case err != nil:
		at := chat.Endpoint{Platform: "WeChat", URL: account.BaseURL, Setting: "channels.wechat.api_url", Needs: "https to *.weixin.qq.com"}
		return []chat.Finding{at.Unreached(err)}
	}
	findings := []chat.Finding{chat.Passed("logged in as %s since %s", account.BotID, account.LoggedInAt.Format(time.DateTime))}
	windows, err := p.Windows(ctx)
	if err != nil {
		return append(findings, chat.Warned("see the check of the store", "how many messages may be sent cannot be read: %v", err))
	}
	for _, w := range windows[:min(len(windows), 5)] {
		findings = append(findings, w.finding(p.o.Replies))
	}
	return findings
}

func (w Window) finding(of int) chat.Finding {
	const ask = "ask the person to write to the bot; what waits for them is sent then"
	switch {
	case w.Until.IsZero():
		return chat.Warned(ask, "WeChat takes no messages for %s until they write again: it was too long ago", w.Chat)
	case w.Left == 0:
		return chat.Warned(ask, "WeChat takes no messages for %s until they write again: all %d are used up", w.Chat, of)
	}
	return chat.Passed("%d messages left for %s, until %s", w.Left, w.Chat, w.Until.Format(time.DateTime))
}
