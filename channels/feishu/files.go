package feishu

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	maxPicture = 10 << 20 // bytes of a picture that is sent
	maxFile    = 30 << 20 // bytes of another file
)

// pictures are the extensions that are shown as pictures; fileTypes are the platform's types
// of other files.
var (
	pictures  = map[string]bool{".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".bmp": true}
	fileTypes = map[string]string{
		".opus": "opus", ".mp4": "mp4", ".pdf": "pdf", ".doc": "doc", ".docx": "doc", ".xls": "xls", ".xlsx": "xls", ".ppt": "ppt", ".pptx": "ppt",
	}
)

// postFile uploads and sends a file. A picture is a card with its description; another file
// is a message, and its description is a card that follows.
func (p *platform) postFile(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	if len(msg.Content) == 0 {
		msg.Content = []byte("\n") // the platform takes no empty files
	}
	extension := strings.ToLower(path.Ext(msg.File))
	if pictures[extension] && len(msg.Content) <= maxPicture {
		key, err := p.upload(ctx, "/open-apis/im/v1/images", "image", msg, map[string]string{"image_type": "message"})
		if err != nil {
			return "", err
		}
		return p.postCard(ctx, at, msg, key)
	}
	if len(msg.Content) > maxFile {
		return "", &remote.Error{Service: Name, Status: http.StatusBadRequest, Err: fmt.Errorf("%s is larger than %d MB", msg.File, maxFile>>20)}
	}
	kind := fileTypes[extension]
	if kind == "" {
		kind = "stream"
	}
	key, err := p.upload(ctx, "/open-apis/im/v1/files", "file", msg, map[string]string{"file_type": kind, "file_name": msg.File})
	if err != nil {
		return "", err
	}
	b := body{kind: "file", content: encoded(object{"file_key": key}), key: keyOf(msg)}
	id, err := p.send(ctx, at, msg.Part, b)
	if err != nil || msg.Text == "" {
		return id, err
	}
	b = body{kind: "interactive", content: encoded(p.cardOf(at, msg, "")), key: b.key + "-text"}
	_, err = p.send(ctx, at, msg.Part, b)
	return id, err
}

// upload uploads a file and returns its key.
func (p *platform) upload(ctx context.Context, path, field string, msg chat.Message, fields map[string]string) (string, error) {
	var answer struct {
		Data struct {
			Image string `json:"image_key"`
			File  string `json:"file_key"`
		} `json:"data"`
	}
	r := request{name: "upload a file", verb: http.MethodPost, path: path, form: &web.Form{Fields: fields, Field: field, Name: msg.File, Content: msg.Content}}
	if err := p.call(ctx, r, &answer); err != nil {
		return "", err
	}
	return answer.Data.Image + answer.Data.File, nil
}

// Describe implements [chat.Files]. Messages do not say which kind of picture they have.
func (p *platform) Describe(ctx context.Context, f domain.File) (domain.File, error) {
	if !strings.HasSuffix(f.URL, "?type=image") {
		return f, nil
	}
	response, err := p.fetch(ctx, f)
	if err != nil {
		return f, err
	}
	defer response.Body.Close()
	f.Size = max(response.ContentLength, 0)
	if kind := response.Header.Get("Content-Type"); strings.HasPrefix(kind, "image/") {
		f.MIME = kind
		f.Name = strings.TrimSuffix(f.Name, path.Ext(f.Name)) + "." + strings.TrimPrefix(kind, "image/")
	}
	return f, nil
}

// Fetch implements [chat.Files].
func (p *platform) Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error) {
	response, err := p.fetch(ctx, f)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// unreadable are the platform's codes for files that cannot be fetched.
var unreadable = map[int]string{
	codeRecalled: "was recalled", codeDeleted: "was deleted", 234003: "is not in its message", 234037: "is larger than 100 MB", 234038: "may not leave its chat",
	234043: "is in a message of a kind that hides it", 234006: "is too large",
}

func (p *platform) fetch(ctx context.Context, f domain.File) (response *http.Response, err error) {
	if !strings.HasPrefix(f.URL, "/open-apis/im/v1/messages/") {
		return nil, chat.Unreadable("is not stored by Feishu")
	}
	response, err = p.download(ctx, f.URL)
	if why := unreadable[code(err)]; why != "" {
		return nil, chat.Unreadable(why)
	}
	return response, lacking(err)
}
