package wechat

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	callTimeout = 15 * time.Second // of a call
	fileTimeout = 5 * time.Minute  // of a file
	maxAnswer   = 16 << 20         // bytes
	// throttled is how long to wait after WeChat refused a message: it refuses all of them
	// for a while after a burst.
	throttled = time.Minute
)

// How the API knows a client.
const (
	appID          = "bot"
	channelVersion = "2.4.9" // of the protocol, as Tencent's own client numbers it
	clientVersion  = 2<<16 | 4<<8 | 9
)

// The API's error codes.
const (
	codeRefused = -2  // too many messages at once, or none left of those that may follow a person's
	codeExpired = -14 // log in again
)

// errRefused is the cause of a message that WeChat refused.
var errRefused = errors.New("refused: too many messages, or none left until the person writes")

// client makes single calls of the API.
type client struct {
	web   *web.Client
	agent string // who we are
}

func newClient(o Options) *client {
	return &client{web: web.NewClient(Name, callTimeout, maxAnswer), agent: "Holdfast/" + cmp.Or(o.Version, "0")}
}

// result is what every answer begins with.
type result struct {
	Ret     int    `json:"ret"`
	ErrCode int    `json:"errcode"`
	ErrMsg  string `json:"errmsg"`
}

// call makes one call for an account and decodes the answer, if that is not nil. Its error
// is a [remote.Error]; status 401 with errLoginExpired asks to log in again.
func (c *client) call(ctx context.Context, account Account, method string, arguments map[string]any, out any) error {
	return c.callFor(ctx, callTimeout, account, method, arguments, out)
}

// callFor is call with another time limit.
func (c *client) callFor(ctx context.Context, limit time.Duration, account Account, method string, arguments map[string]any, out any) error {
	arguments["base_info"] = map[string]string{"channel_version": channelVersion, "bot_agent": c.agent}
	header := http.Header{"AuthorizationType": {"ilink_bot_token"}, "X-WECHAT-UIN": {randomUIN()}}
	if account.Token != "" {
		header.Set("Authorization", "Bearer "+account.Token)
	}
	return c.do(ctx, web.Call{
		Name: method, Method: http.MethodPost, URL: endpoint(account.BaseURL, method), Header: header, Body: arguments, Timeout: limit,
	}, out)
}

// get calls a method that only reads, without an account.
func (c *client) get(ctx context.Context, base, method string, query url.Values, out any) error {
	return c.do(ctx, web.Call{Name: method, Method: http.MethodGet, URL: endpoint(base, method) + "?" + query.Encode(), Header: http.Header{}}, out)
}

func (c *client) do(ctx context.Context, call web.Call, out any) error {
	call.Header.Set("iLink-App-Id", appID)
	call.Header.Set("iLink-App-ClientVersion", strconv.Itoa(clientVersion))
	answer, err := c.web.Do(ctx, call)
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK { // the API itself refuses with status 200: this is a proxy
		return answer.Refused(nil)
	}
	var said result
	if err := answer.Decode(&said); err != nil {
		return err
	}
	if err := said.failure(call.Name); err != nil {
		return err
	}
	return answer.Decode(out)
}

func (r result) failure(method string) error {
	code := cmp.Or(r.Ret, r.ErrCode)
	failed := &remote.Error{Service: Name, Status: http.StatusServiceUnavailable, Err: fmt.Errorf("%s: error %d: %s", method, code, cmp.Or(r.ErrMsg, "no further explanation"))}
	switch code {
	case 0:
		return nil
	case codeExpired:
		failed.Status, failed.Err = http.StatusUnauthorized, fmt.Errorf("%s: %w", method, errLoginExpired)
	case codeRefused:
		failed.Status, failed.Err = http.StatusTooManyRequests, fmt.Errorf("%s: %w: %s", method, errRefused, r.ErrMsg)
	}
	return failed
}

// endpoint returns the address of a method.
func endpoint(base, method string) string {
	return strings.TrimSuffix(base, "/") + "/ilink/bot/" + method
}

// randomUIN returns a number as the API wants one with each request.
func randomUIN() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.StdEncoding.EncodeToString([]byte(strconv.FormatUint(uint64(binary.BigEndian.Uint32(b[:])), 10)))
}
