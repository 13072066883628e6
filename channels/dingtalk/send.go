package dingtalk

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	// titleLimit bounds in characters what a notification shows.
	titleLimit = 40
	// personLimitedFor is how long to wait after DingTalk withheld a message to a person.
	personLimitedFor = time.Minute
)

// Post implements [chat.Platform]: it sends a plain message. If its answer is lost, whether
// it was sent cannot be found out.
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	if msg.File != "" {
		return p.postFile(ctx, at, msg)
	}
	return p.postText(ctx, at.Chat, msg.Text)
}

func (p *platform) postText(ctx context.Context, to, said string) (string, error) {
	return p.send(ctx, to, "sampleMarkdown", map[string]string{"title": titleOf(said), "text": render(said)})
}

// titleOf returns what the notification of a message shows.
func titleOf(said string) string {
	line, _, _ := strings.Cut(markdown.Plain(text.CutRunes(said, 500)), "\n")
	if line = text.CutRunes(line, titleLimit); line == "" {
		return "…"
	}
	return line
}

// send sends a message of one of DingTalk's own templates to a group or a person, and
// returns the key by which DingTalk would tell who read it.
func (p *platform) send(ctx context.Context, to, template string, parameters map[string]string) (string, error) {
	encoded, err := json.Marshal(parameters)
	if err != nil {
		return "", fmt.Errorf("encode the message: %w", err)
	}
	arguments := map[string]any{"robotCode": p.o.RobotCode, "msgKey": template, "msgParam": string(encoded)}
	route := "/v1.0/robot/groupMessages/send"
	if IsDirect(to) {
		route, arguments["userIds"] = "/v1.0/robot/oToMessages/batchSend", []string{to}
	} else {
		arguments["openConversationId"] = to
	}
	var sent struct {
		Key     string   `json:"processQueryKey"`
		Invalid []string `json:"invalidStaffIdList"`
		Limited []string `json:"flowControlledStaffIdList"`
	}
	err = p.api(ctx, http.MethodPost, route, to, arguments, &sent)
	switch {
	case err != nil:
		return "", err
	case slices.Contains(sent.Invalid, to):
		return "", &remote.Error{Service: Name, Status: http.StatusBadRequest, Err: fmt.Errorf("%w: DingTalk knows no such person", channels.ErrGone)}
	case slices.Contains(sent.Limited, to):
		p.limits.Hold(route, to, personLimitedFor)
		return "", &remote.Error{Service: Name, Status: http.StatusTooManyRequests, RetryAfter: personLimitedFor, Err: fmt.Errorf("%s: too many messages to this person", route)}
	}
	return sent.Key, nil
}

// postFile sends a file, and then its description.
func (p *platform) postFile(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	isImage := strings.HasPrefix(http.DetectContentType(msg.Content), "image/")
	media, err := p.upload(ctx, msg.File, isImage, msg.Content)
	if err != nil {
		return "", err
	}
	template, parameters := "sampleFile", map[string]string{"mediaId": media, "fileName": msg.File, "fileType": strings.TrimPrefix(path.Ext(msg.File), ".")}
	if isImage {
		template, parameters = "sampleImageMsg", map[string]string{"photoURL": media}
	}
	id, err := p.send(ctx, at.Chat, template, parameters)
	if err != nil || strings.TrimSpace(msg.Text) == "" {
		return id, err
	}
	if _, err := p.postText(ctx, at.Chat, msg.Text); err != nil { // sending the file again would be worse
		p.o.Logger.Warn("a file was sent without its description", "err", err)
	}
	return id, nil
}
