package qq

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
)

// fetchToken asks for an access token. QQ refuses with status 200, too.
func (p *platform) fetchToken(ctx context.Context) (value string, lasts time.Duration, err error) {
	answer, err := p.web.Do(ctx, web.Call{
		Name: "get an access token", Method: http.MethodPost, URL: p.o.TokenURL, Body: map[string]string{"appId": p.o.AppID, "clientSecret": p.o.Secret},
		Secrets: []string{p.o.Secret},
	})
	if err != nil {
		return "", 0, err
	}
	var got struct {
		AccessToken string      `json:"access_token"`
		ExpiresIn   json.Number `json:"expires_in"` // a number or a string, in seconds
		Code        int         `json:"code"`
		Message     string      `json:"message"`
	}
	switch invalid := json.Unmarshal(answer.Body, &got); {
	case answer.Status == http.StatusTooManyRequests, answer.Status >= 500, invalid != nil:
		return "", 0, answer.Refused(nil)
	case got.AccessToken == "":
		failed := answer.Refused(fmt.Errorf("qq does not accept channels.qq.app_id and channels.qq.secret: %s (code %d)", got.Message, got.Code))
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, web.OperatorDelay
		return "", 0, failed
	}
	seconds, _ := got.ExpiresIn.Int64() // else it is used once
	return got.AccessToken, time.Duration(max(0, min(seconds, 24*60*60))) * time.Second, nil
}
