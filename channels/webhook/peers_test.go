//go:build peers

package webhook_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/webhook/webhooktest"
)

// request is a request as an endpoint gets it.
func request(t *testing.T) (http.Header, []byte) {
	var header http.Header
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	_, err := open(t, server.URL, nil).Send(t.Context(), message("o1", "Grüße & <all>"))
	require.NoError(t, err)
	return header, body
}

// The examples of the documentation verify what we send, and nothing else.
func TestPeerExamples(t *testing.T) {
	docs, err := os.ReadFile("../../docs/webhook.md")
	require.NoError(t, err)
	header, body := request(t)
	for language, example := range map[string]struct {
		file, before, after string
		run                 []string
	}{
		"python": {"verify.py", "", `
import sys
headers = {"webhook-id": sys.argv[2], "webhook-timestamp": sys.argv[3], "webhook-signature": sys.argv[4]}
verify(sys.argv[1], headers, sys.stdin.buffer.read())
`, []string{"python3"}},
		"js": {"verify.js", "", `
const [secret, id, timestamp, signature] = process.argv.slice(2);
verify(secret, {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}, require("node:fs").readFileSync(0));
`, []string{"node"}},
		"go": {"main.go", `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)
`, `
func main() {
	h := http.Header{}
	h.Set("webhook-id", os.Args[2])
	h.Set("webhook-timestamp", os.Args[3])
	h.Set("webhook-signature", os.Args[4])
	body, _ := io.ReadAll(os.Stdin)
	if err := verify(os.Args[1], h, body); err != nil {
		panic(err)
	}
}
`, []string{"go", "run"}},
	} {
		t.Run(language, func(t *testing.T) {
			code := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(docs)
			require.NotNil(t, code)
			file := filepath.Join(t.TempDir(), example.file)
			require.NoError(t, os.WriteFile(file, []byte(example.before+string(code[1])+example.after), 0o600))
			verify := func(secret, timestamp, body string) error {
				args := append(example.run[1:], file, secret, header.Get("webhook-id"), timestamp, header.Get("webhook-signature"))
				command := exec.Command(example.run[0], args...)
				command.Stdin = strings.NewReader(body)
				out, err := command.CombinedOutput()
				if err != nil {
					t.Logf("%s", out)
				}
				return err
			}
			at := header.Get("webhook-timestamp")
			require.NoError(t, verify(webhooktest.Secret, at, string(body)))
			require.Error(t, verify(webhooktest.Secret, at, string(body)+" "))
			require.Error(t, verify(webhooktest.Secret, "1", string(body)))
			require.Error(t, verify("whsec_AAAABQIhrscChlQIMV+b5sSYspob7oD", at, string(body)))
		})
	}
}

// The library of Standard Webhooks verifies what we send.
func TestPeerStandardWebhooks(t *testing.T) {
	dir := os.Getenv("HOLDFAST_PEERS")
	require.NotEmpty(t, dir, "run this with `make peers`")
	header, body := request(t)
	const script = `
const { Webhook } = require("standardwebhooks");
const [secret, id, timestamp, signature] = process.argv.slice(1);
const event = new Webhook(secret).verify(require("node:fs").readFileSync(0),
  {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature});
console.log(event.data.text);
`
	verify := func(body string) (string, error) {
		command := exec.Command("node", "-e", script, webhooktest.Secret,
			header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature"))
		command.Dir, command.Stdin = dir, strings.NewReader(body)
		out, err := command.Output()
		return string(out), err
	}
	text, err := verify(string(body))
	require.NoError(t, err)
	require.Equal(t, "Grüße & <all>\n", text)
	_, err = verify(string(body) + " ")
	require.Error(t, err)
}
