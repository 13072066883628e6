package qq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// operatorDelay is the delay of the next attempt while the operator has to fix something.
const operatorDelay = 30 * time.Second

// fetchToken asks for an access token. QQ refuses with status 200, too.
func (p *platform) fetchToken(ctx context.Context) (value string, lasts time.Duration, err error) {
	a, err := p.request(ctx, http.MethodPost, p.o.TokenURL, "", map[string]string{"appId": p.o.AppID, "clientSecret": p.o.Secret})
	if err != nil {
		return "", 0, err
	}
	failed := &remote.Error{Service: Name, Status: http.StatusBadGateway, Err: errors.New("get an access token: not an answer of qq's")}
	var got struct {
		AccessToken string      `json:"access_token"`
		ExpiresIn   json.Number `json:"expires_in"` // a number or a string, in seconds
		Code        int         `json:"code"`
		Message     string      `json:"message"`
	}
	invalid := json.Unmarshal(a.body, &got)
	switch {
	case a.status == http.StatusTooManyRequests || a.status >= 500:
		failed.Status, failed.RetryAfter = a.status, remote.RetryAfter(a.header, time.Now())
		return "", 0, failed
	case invalid != nil:
		return "", 0, failed
	case got.AccessToken == "":
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, operatorDelay
		failed.Err = fmt.Errorf("qq does not accept channels.qq.app_id and channels.qq.secret: %s (code %d)", got.Message, got.Code)
		return "", 0, failed
	}
	seconds, _ := got.ExpiresIn.Int64() // else it is used once
	return got.AccessToken, time.Duration(max(0, min(seconds, 24*60*60))) * time.Second, nil
}
