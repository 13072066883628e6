package feishu

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// checkTimeout bounds a call of a check.
const checkTimeout = 10 * time.Second

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	return chat.Words{
		Group:      "group",
		FindPerson: "the log shows the open ID of a person who was refused",
		FindGroup:  "the log shows the ID of a group that was refused",
	}
}

// Hook implements [chat.Hooked].
func (p *platform) Hook() *chat.Webhook {
	if p.o.Mode != ModeWebhook {
		return nil
	}
	return p.webhook
}

// Check implements [chat.Checker].
func (p *platform) Check(ctx context.Context) []chat.Finding {
	self, err := bounded(ctx, p.Identify)
	if err != nil {
		return []chat.Finding{p.failed(err)}
	}
	findings := []chat.Finding{chat.Passed("connected as %s (%s) to %s, mode %s", self.Name, self.ID, p.base, p.o.Mode)}
	if p.o.Mode != ModeWebhook {
		if _, err := bounded(ctx, p.endpoint); err != nil {
			findings = append(findings, p.failed(err))
		} else {
			findings = append(findings, chat.Passed("a long connection is available"))
		}
	}
	return append(findings, p.checkPermissions(ctx, self.ID))
}

// bounded makes a call that may take as long as a check may.
func bounded[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return call(ctx)
}

// failed returns why a call with the app's ID and secret failed.
func (p *platform) failed(err error) chat.Finding {
	hint := codes.Operator[code(err)]
	switch {
	case hint != "":
		return chat.Failed("check the app in the developer console, and channels.feishu.app_id, app_secret and domain", "%s (%d)", hint, code(err))
	case code(err) != 0:
		return chat.Failed("check the app in the developer console; see docs/feishu.md", "%v", err)
	}
	return chat.Endpoint{
		Platform: "Feishu", URL: p.base, Setting: "channels.feishu.api_url", Needs: "https and wss to *.feishu.cn or *.larksuite.com",
	}.Unreached(err)
}

// permission is one that an optional part of the channel needs, and a call that shows whether
// the app has it. The call concerns nothing that exists.
type permission struct {
	name, without string
	probe         request
}

func permissions(self string) []permission {
	return []permission{
		{"im:chat:readonly", "the message tool cannot reach groups", request{path: "/open-apis/im/v1/chats", query: url.Values{"page_size": {"1"}}}},
		{"contact:user.base:readonly", "people appear by ID", request{path: "/open-apis/contact/v3/users/" + self, query: url.Values{"user_id_type": {"open_id"}}}},
		{"im:message.reactions:write_only", "no reaction marks a message as seen", request{
			verb: http.MethodPost, path: "/open-apis/im/v1/messages/om_0/reactions", body: object{"reaction_type": object{"emoji_type": workingEmoji}},
		}},
		{"cardkit:card:write", "answers do not appear as they are typed, but by edits", request{
			verb: http.MethodPut, path: "/open-apis/cardkit/v1/cards/0", body: object{"card": object{"type": "card_json", "data": "{}"}, "sequence": 1},
		}},
	}
}

// checkPermissions reports which permissions the app lacks. It cannot be asked for them.
func (p *platform) checkPermissions(ctx context.Context, self string) chat.Finding {
	var missing []string
	all := permissions(self)
	for _, wanted := range all {
		wanted.probe.name = "probe " + wanted.name
		_, err := bounded(ctx, func(ctx context.Context) (any, error) { return nil, p.call(ctx, wanted.probe, nil) })
		if code(err) == codeNoScope {
			missing = append(missing, wanted.name+" ("+wanted.without+")")
		}
	}
	if missing == nil {
		return chat.Passed("the app has the %d optional permissions that can be checked", len(all))
	}
	return chat.Warned("add them under Permissions & Scopes in the developer console, and publish a new version of the app", "the app lacks permissions: %s", strings.Join(missing, "; "))
}
