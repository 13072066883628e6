package wechat

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

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
	http  *http.Client
	agent string // who we are
}

func newClient(o Options) *client {
	return &client{http: newHTTP(o, 0), agent: "Holdfast/" + cmp.Or(o.Version, "0")}
}

// newHTTP returns an HTTP client that leaves WeChat's hosts for no other.
func newHTTP(o Options, timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.Method != http.MethodGet || len(via) > 3 || !o.trusts(r.URL.String()) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// result is what every answer begins with.
type result struct {
	Ret     int    `json:"ret"`
	ErrCode int    `json:"errcode"`
	ErrMsg  string `json:"errmsg"`
}

// call makes one call for an account and decodes the answer, if that is not nil. Its error
// is a [remote.Error]; status 401 with errLoginExpired asks to log in again.
func (c *client) call(ctx context.Context, account Account, method string, arguments map[string]any, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.post(ctx, account, method, arguments, answer)
}

// post is call without a time limit of its own.
func (c *client) post(ctx context.Context, account Account, method string, arguments map[string]any, answer any) error {
	arguments["base_info"] = map[string]string{"channel_version": channelVersion, "bot_agent": c.agent}
	body, err := json.Marshal(arguments)
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint(account.BaseURL, method), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("AuthorizationType", "ilink_bot_token")
	request.Header.Set("X-WECHAT-UIN", randomUIN())
	if account.Token != "" {
		request.Header.Set("Authorization", "Bearer "+account.Token)
	}
	return c.do(request, method, answer)
}

// get calls a method that only reads, without an account.
func (c *client) get(ctx context.Context, base, method string, query url.Values, answer any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint(base, method)+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	return c.do(request, method, answer)
}

func (c *client) do(request *http.Request, method string, answer any) error {
	request.Header.Set("iLink-App-Id", appID)
	request.Header.Set("iLink-App-ClientVersion", strconv.Itoa(clientVersion))
	response, err := c.http.Do(request)
	if err != nil {
		return &remote.Error{Service: Name, Err: fmt.Errorf("%s: %w", method, remote.WithoutURL(err))}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return rejected(method, response)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errors.New("the answer is too large")
	}
	var said result
	if err == nil {
		err = json.Unmarshal(body, &said)
	}
	if err != nil {
		return &remote.Error{Service: Name, Err: fmt.Errorf("%s: read the answer: %w", method, err)}
	}
	if err := said.failure(method); err != nil || answer == nil {
		return err
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return &remote.Error{Service: Name, Err: fmt.Errorf("%s: read the answer: %w", method, err)}
	}
	return nil
}

// rejected returns the error of a status. The API itself refuses with status 200, so what
// no attempt would change is a proxy's, and waits for the operator.
func rejected(method string, response *http.Response) error {
	failed := remote.Rejected(Name, response, method+": "+http.StatusText(response.StatusCode))
	if failed.Permanent() || failed.Status < http.StatusBadRequest {
		failed.Status, failed.RetryAfter = http.StatusBadGateway, operatorDelay
	}
	return failed
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
