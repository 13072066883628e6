package slack

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const errNoScope = chat.Unreadable("cannot be read: the app lacks the scope files:read")

// Who implements [chat.Directory].
func (p *platform) Who(ctx context.Context, id string) (chat.Profile, error) {
	if !isUser(id) {
		return chat.Profile{}, nil
	}
	who, err := p.people.Who(ctx, id)
	return who, lacking(err)
}

// Describe implements [chat.Files]. Files of shared channels are delivered with nothing
// but their IDs.
func (p *platform) Describe(ctx context.Context, f domain.File) (domain.File, error) {
	if f.URL != "" {
		return f, nil
	}
	err := p.call(ctx, "files.info", "", func(ctx context.Context) error {
		info, _, _, err := p.api.GetFileInfoContext(ctx, f.ID, 0, 0)
		if err == nil {
			f.Name, f.MIME, f.Size = cmp.Or(info.Name, f.Name), info.Mimetype, int64(info.Size)
			f.URL = cmp.Or(info.URLPrivateDownload, info.URLPrivate)
		}
		return err
	})
	return f, lacking(err)
}

// Fetch implements [chat.Files]. Nobody but Slack receives the token.
func (p *platform) Fetch(ctx context.Context, f domain.File) (body io.ReadCloser, err error) {
	address, err := url.Parse(f.URL)
	if err != nil || !p.o.mayReceiveToken(address) {
		return nil, chat.Unreadable("is not stored by Slack")
	}
	body, err = ask(ctx, p, "download", func(ctx context.Context) (io.ReadCloser, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, http.NoBody)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+p.o.BotToken)
		response, err := p.files.Do(request)
		if err != nil {
			return nil, err
		}
		if err := withheld(response, f); err != nil {
			return nil, errors.Join(err, response.Body.Close())
		}
		return response.Body, nil
	})
	return body, lacking(err)
}

// withheld is why a response does not contain the file. Slack redirects to a sign-in page
// if the token may not read it.
func withheld(response *http.Response, f domain.File) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	signIn := response.Request.URL.Query().Has("redir") || kind == "text/html" && !strings.HasPrefix(f.MIME, kind)
	switch code := response.StatusCode; {
	case code == http.StatusNotFound, code == http.StatusGone:
		return chat.Unreadable("was deleted")
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusOK && signIn:
		return errNoScope
	}
	return status(response)
}

// lacking returns err, as [chat.Unavailable] if another attempt fails until someone changes
// something.
func lacking(err error) error {
	if _, ok := errors.AsType[chat.Unreadable](err); ok || err == nil {
		return err
	}
	answer, _ := errors.AsType[slack.SlackErrorResponse](err)
	hint := misconfigured[answer.Err]
	switch failed := remote.As(err); {
	case hint == "" && (failed == nil || !failed.Permanent()):
		return err
	case answer.Needed != "":
		hint = "the app lacks the scope " + answer.Needed
	}
	return errors.Join(chat.Unavailable(cmp.Or(hint, answer.Err, err.Error())), err)
}
