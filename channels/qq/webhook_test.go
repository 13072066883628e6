package qq_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/qq"
	"github.com/holdfast-ai/holdfast/channels/qq/qqtest"
)

const directMessage = `{"op":0,"id":"e1","t":"C2C_MESSAGE_CREATE","d":{"id":"ROBOT1.0_x","author":{"user_openid":"` + qqtest.Ana + `"},"content":"hi","timestamp":"2026-11-22T10:00:00+08:00"}}`

func TestSignatures(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeHTTP, setup{})
	body := []byte(directMessage)
	with := func(name, value string) http.Header {
		header := qqtest.Sign(qqtest.Secret, time.Now(), body)
		header.Set(name, value)
		return header
	}
	for name, header := range map[string]http.Header{
		"none":            {},
		"no signature":    with("X-Signature-Ed25519", ""),
		"no timestamp":    with("X-Signature-Timestamp", ""),
		"another secret":  qqtest.Sign("another", time.Now(), body),
		"another body":    qqtest.Sign(qqtest.Secret, time.Now(), []byte("{}")),
		"another time":    with("X-Signature-Timestamp", "1"),
		"not hexadecimal": with("X-Signature-Ed25519", "zz"),
		"too short":       with("X-Signature-Ed25519", "00"),
		"stale":           qqtest.Sign(qqtest.Secret, time.Now().Add(-6*time.Minute), body),
		"from the future": qqtest.Sign(qqtest.Secret, time.Now().Add(6*time.Minute), body),
	} {
		status, _ := b.post(body, header)
		require.Equal(t, 401, status, name)
	}
	require.Empty(t, b.backend.Accepted())
	replay := qqtest.Sign(qqtest.Secret, time.Now().Add(-4*time.Minute), body)
	for range 3 {
		status, answer := b.post(body, replay)
		require.Equal(t, 200, status)
		require.JSONEq(t, `{"op":12}`, answer)
	}
	require.Len(t, b.backend.Accepted(), 1, "a replay has no effect")
	require.Zero(t, b.log.count(qqtest.Secret))
}

// Tencent's own example.
func TestValidation(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeHTTP, setup{})
	require.NoError(t, b.Challenge(b.ctx))
	_, answer := b.post([]byte(`{"d":{"plain_token":"Arq0D5A61EgUu4OxUvOp","event_ts":"1725442341"},"op":13}`), http.Header{})
	require.JSONEq(t, `{"plain_token":"Arq0D5A61EgUu4OxUvOp","signature":"87befc99c42c651b3aac0278e71ada338433ae26fcb24307bdc5ad38c1adc2d01bcfcadc0842edac85e85205028a1132afe09280305f13aa6909ffc2d652c706"}`, answer)
	for _, forged := range []string{
		`{"op":13,"d":{"plain_token":"{\"op\":0}","event_ts":"1725442341"}}`,
		`{"op":13,"d":{"plain_token":"a","event_ts":"1725442341{"}}`,
		`{"op":13,"d":{"plain_token":"","event_ts":"1"}}`,
		`{"op":13,"d":"x"}`, `{"op":13}`, `x`,
	} {
		status, _ := b.post([]byte(forged), http.Header{})
		require.Equal(t, 401, status, "what could be an event is not signed: %s", forged)
	}
}

func TestTheEndpoint(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeHTTP, setup{})
	signed := func(body string) int {
		status, _ := b.post([]byte(body), qqtest.Sign(qqtest.Secret, time.Now(), []byte(body)))
		return status
	}
	for _, malformed := range []string{"", "{", "[]", `{"op":"x"}`, `{"op":0,"t":"C2C_MESSAGE_CREATE"}`, `{"op":0,"t":"C2C_MESSAGE_CREATE","d":{}}`, strings.Replace(directMessage, `"id":"ROBOT1.0_x",`, "", 1)} {
		require.Equal(t, 400, signed(malformed), malformed)
	}
	require.Equal(t, 200, signed(`{"op":0,"t":"GROUP_ADD_ROBOT","d":{}}`))
	require.Equal(t, 413, signed(strings.Repeat(" ", 1<<20+1)))
	b.backend.FailAccept(1)
	require.Equal(t, 503, signed(directMessage), "not durable")
	require.Equal(t, 200, signed(directMessage))
}
