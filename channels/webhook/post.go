package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// The types of an [Event].
const (
	TypeReply    = "reply"    // an answer, a job's result, or a part of one
	TypeQuestion = "question" // a tool call waits for approval
	TypeFile     = "file"
)

// Event is the body of a request. It is the same in every attempt.
type Event struct {
	Type string `json:"type"`
	Data Data   `json:"data"`
}

// Data is what an [Event] reports.
type Data struct {
	ID       string `json:"id"` // the key
	Endpoint string `json:"endpoint"`
	Session  string `json:"session,omitempty"`  // as the message named it
	ReplyTo  string `json:"reply_to,omitempty"` // ID of the message that is answered
	Part     int    `json:"part"`               // of a long reply, from 1
	Text     string `json:"text"`               // Markdown; of a file, its description
	Approval string `json:"approval,omitempty"` // ID to answer the question with
	File     *File  `json:"file,omitempty"`
}

// File is a file that the agent sends.
type File struct {
	Name    string `json:"name"`
	MIME    string `json:"mime"`
	Content []byte `json:"content"` // base64
}

// Post implements [chat.Writer]. The ID is the key.
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (id string, err error) {
	endpoint, known := p.o.Endpoints[at.Chat]
	if !known {
		return "", gone("channels.webhook.endpoints has no %s any more", at.Chat)
	}
	id = "msg_" + msg.Key()
	body, err := json.Marshal(event(id, at, msg))
	if err != nil {
		return "", fmt.Errorf("encode a message: %w", err)
	}
	err = p.limits.Do(ctx, "post", at.Chat, true, func(ctx context.Context) error {
		return p.send(ctx, at.Chat, endpoint, id, body)
	})
	return id, err
}

func event(id string, at chat.Place, msg chat.Message) Event {
	e := Event{Type: TypeReply, Data: Data{
		ID: id, Endpoint: at.Chat, Session: at.Thread, ReplyTo: at.ReplyTo, Part: msg.Part, Text: msg.Text, Approval: msg.Approval,
	}}
	switch {
	case msg.Approval != "":
		e.Type = TypeQuestion
	case msg.File != "":
		e.Type = TypeFile
		kind := mime.TypeByExtension(path.Ext(msg.File))
		if kind == "" {
			kind = "application/octet-stream"
		}
		e.Data.File = &File{Name: msg.File, MIME: kind, Content: msg.Content}
	}
	return e
}

const (
	// retryLater is the pause after an answer that somebody has to look into.
	retryLater = time.Minute
	// answerLimit bounds what is read of an answer, so that the connection can be used again.
	answerLimit = 4 << 10
)

func (p *platform) send(ctx context.Context, name string, e Endpoint, id string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return gone("the URL of the endpoint %s is not valid", name)
	}
	now := time.Now().Unix()
	signature, err := signatures(e, id, now, body)
	if err != nil {
		return fmt.Errorf("sign a message: %w", err)
	}
	for field, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "Holdfast", "Idempotency-Key": id,
		"Webhook-Id": id, "Webhook-Timestamp": strconv.FormatInt(now, 10), "Webhook-Signature": signature,
	} {
		request.Header.Set(field, value)
	}
	response, err := p.clients[name].Do(request)
	if err != nil {
		return &remote.Error{Service: Name, Err: fmt.Errorf("post to the endpoint %s: %w", name, remote.WithoutURL(err))}
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, answerLimit)
	return answered(name, response)
}

// answered returns what an endpoint's answer means: only 410 is final, since anything else
// may be a mistake that is being corrected.
func answered(name string, response *http.Response) error {
	failed := remote.Rejected(Name, response, fmt.Sprintf("the endpoint %s answered %s", name, response.Status))
	switch {
	case response.StatusCode/100 == 2:
		return nil
	case response.StatusCode == http.StatusGone:
		return gone("the endpoint %s answered %s", name, response.Status)
	case failed.Permanent(), response.StatusCode/100 == 3:
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, max(failed.RetryAfter, retryLater)
	}
	return failed
}
