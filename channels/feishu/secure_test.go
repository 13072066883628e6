package feishu_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/feishu"
	"github.com/holdfast-ai/holdfast/channels/feishu/feishutest"
)

func TestChallenge(t *testing.T) {
	t.Parallel()
	r := start(t, setup{mode: feishu.ModeWebhook})
	require.NoError(t, r.Challenge(r.ctx))
}

func TestForgedRequests(t *testing.T) {
	t.Parallel()
	r := start(t, setup{mode: feishu.ModeWebhook})
	valid := r.Say(feishutest.Ana, "", "hello")
	require.NoError(t, valid.Wait(r.ctx))
	sealed := r.Seal(bytes.Replace(valid.Payload, []byte("hello"), []byte("forged"), 1))
	post := func(body []byte, header http.Header) int {
		status, _, err := r.Post(r.ctx, body, header)
		require.NoError(t, err)
		return status
	}
	unsigned := http.Header{"Content-Type": {"application/json"}}
	other := r.Sign(sealed, time.Now())
	other.Set("X-Lark-Signature", "00"+other.Get("X-Lark-Signature")[2:])
	otherToken := bytes.Replace(valid.Payload, []byte(token), []byte("guessed"), 1)
	for name, status := range map[string]int{
		"no signature":             post(sealed, unsigned),
		"another signature":        post(sealed, other),
		"the signature of another": post(sealed, r.Sign(r.Seal(valid.Payload), time.Now())),
		"too old":                  post(sealed, r.Sign(sealed, time.Now().Add(-10*time.Minute))),
		"from the future":          post(sealed, r.Sign(sealed, time.Now().Add(10*time.Minute))),
		"not encrypted":            post(valid.Payload, unsigned),
		"another token":            post(r.Seal(otherToken), r.Sign(r.Seal(otherToken), time.Now())),
		"another token, signed": func() int {
			body := r.Seal(otherToken)
			return post(body, r.Sign(body, time.Now()))
		}(),
		"not JSON": post([]byte("hello"), r.Sign([]byte("hello"), time.Now())),
	} {
		require.Equal(t, http.StatusUnauthorized, status, name)
	}
	require.Len(t, r.backend.Accepted(), 1)

	body := r.Seal(valid.Payload)
	header := r.Sign(body, time.Now())
	for range 3 {
		require.Equal(t, http.StatusOK, post(body, header), "a replay is a redelivery")
	}
	require.Len(t, r.backend.Accepted(), 1)
}

func TestForgedFloods(t *testing.T) {
	t.Parallel()
	r := start(t, setup{mode: feishu.ModeWebhook})
	for i := range 1000 {
		body := fmt.Appendf(nil, `{"encrypt":"%x","header":{"token":%d}}`, i, i)
		status, _, err := r.Post(r.ctx, body, r.Sign(body, time.Now()))
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, status)
	}
	require.Empty(t, r.backend.Accepted())
}

func TestWithTokenOnly(t *testing.T) {
	t.Parallel()
	channel, err := feishu.New(feishu.Options{AppID: "cli_1", AppSecret: "s", Mode: feishu.ModeWebhook, VerificationToken: token})
	require.NoError(t, err)
	now := time.Now()
	require.NoError(t, feishu.Verify(channel, nil, []byte(`{"schema":"2.0","header":{"token":"`+token+`"}}`), now))
	require.NoError(t, feishu.Verify(channel, nil, []byte(`{"type":"url_verification","token":"`+token+`"}`), now))
	for _, body := range []string{`{}`, `{"header":{"token":"other"}}`, `{"encrypt":"AAAA"}`, ``} {
		require.Error(t, feishu.Verify(channel, nil, []byte(body), now), body)
	}
}

// TestSignature checks against values that were computed by the platform's own library.
func TestSignature(t *testing.T) {
	t.Parallel()
	plain, err := feishu.Decrypted([]byte(`{"encrypt":"P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk="}`), "test key")
	require.NoError(t, err)
	require.Equal(t, "hello world", string(plain))
	_, err = feishu.Decrypted([]byte(`{"encrypt":"P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk="}`), "")
	require.ErrorIs(t, err, chat.ErrMalformed)
}

func TestCheckSetup(t *testing.T) {
	t.Parallel()
	texts := func(r *rig) string {
		var all strings.Builder
		for _, f := range r.channel.CheckSetup(r.ctx) {
			all.WriteString(string(f.Level) + ": " + f.Text + "\n")
		}
		return all.String()
	}
	r := start(t, setup{idle: true})
	require.Equal(t, "ok: connected as Holdfast (ou_bot) to "+r.URL()+", mode socket\nok: a long connection is available\n"+
		"ok: the app has the 4 optional permissions that can be checked\nok: answers 2 people, in direct messages and in 2 groups it is invited to\n", texts(r))
	require.Nil(t, r.channel.Webhook())
	require.Empty(t, r.Posted())

	r = start(t, setup{idle: true, mode: feishu.ModeWebhook, fake: []feishutest.Option{feishutest.Without(feishutest.ScopeCards, feishutest.ScopeReactions)}})
	require.Contains(t, texts(r), "warn: the app lacks permissions: im:message.reactions:write_only")
	require.NotContains(t, texts(r), "long connection")
	require.NotNil(t, r.channel.Webhook())

	r = start(t, setup{idle: true})
	r.RefuseConnections(1)
	require.Contains(t, texts(r), "fail: feishu: status 503")
	wrong, err := feishu.New(feishu.Options{AppID: feishutest.AppID, AppSecret: "guessed", APIURL: r.URL()})
	require.NoError(t, err)
	findings := wrong.CheckSetup(context.Background())
	require.Equal(t, "the app secret is not valid (10014)", findings[0].Text)
	r.Down()
	require.Equal(t, chat.LevelFail, wrong.CheckSetup(r.ctx)[0].Level)
}
