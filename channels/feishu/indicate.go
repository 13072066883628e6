package feishu

import (
	"context"
	"net/http"
	"net/url"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// The reactions that a message gets.
const (
	workingEmoji = "Typing"
	failedEmoji  = "CrossMark"
)

// Indicates implements [chat.Indicator]: by a reaction, if the app may add one.
func (p *platform) Indicates(context.Context, chat.Place) (chat.Indicates, error) {
	return chat.Indicates{State: !p.noReactions.Load()}, nil
}

// Indicate implements [chat.Indicator]. The reaction goes when the answer comes.
func (p *platform) Indicate(ctx context.Context, at chat.Place, what chat.Indication) error {
	if !isID("om_", at.ReplyTo) { // a click, which is no message
		return nil
	}
	path := "/open-apis/im/v1/messages/" + url.PathEscape(at.ReplyTo) + "/reactions"
	switch what.State {
	case chat.StateAnswered:
		return p.unreact(ctx, path)
	case chat.StateFailed:
		if err := p.unreact(ctx, path); err != nil {
			return err
		}
		return p.react(ctx, path, failedEmoji)
	case chat.StateWorking, chat.StateWaiting:
	}
	return p.react(ctx, path, workingEmoji)
}

func (p *platform) react(ctx context.Context, path, emoji string) error {
	err := p.call(ctx, request{
		name: "react", verb: http.MethodPost, path: path, body: object{"reaction_type": object{"emoji_type": emoji}},
	}, nil)
	if code(err) == codeNoScope {
		p.noReactions.Store(true)
	}
	return err
}

// unreact removes our working reactions, in whichever process they were added.
func (p *platform) unreact(ctx context.Context, path string) error {
	var answer struct {
		Data struct {
			Items []struct {
				ID       string `json:"reaction_id"`
				Operator struct {
					ID   string `json:"operator_id"`
					Type string `json:"operator_type"`
				} `json:"operator"`
			} `json:"items"`
		} `json:"data"`
	}
	r := request{name: "list reactions", path: path, query: url.Values{"reaction_type": {workingEmoji}}}
	if err := p.call(ctx, r, &answer); err != nil {
		return err
	}
	for _, reaction := range answer.Data.Items {
		if reaction.Operator.Type != "app" || reaction.Operator.ID != p.appID {
			continue
		}
		if err := p.call(ctx, request{name: "remove a reaction", verb: http.MethodDelete, path: path + "/" + url.PathEscape(reaction.ID)}, nil); err != nil {
			return err
		}
	}
	return nil
}
