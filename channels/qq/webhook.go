package qq

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// maxAge bounds the age of a request.
const maxAge = 5 * time.Minute

// newWebhook returns the server to which QQ delivers in ModeHTTP.
func newWebhook(p *platform) *chat.Webhook {
	key := keyOf(p.o.Secret)
	return &chat.Webhook{
		Name: Name, Title: "QQ", Listen: p.o.Listen, Path: p.o.Path, Logger: p.o.Logger,
		Verify: func(header http.Header, body []byte) error {
			if _, is := readValidation(body); is {
				return nil
			}
			return verify(header, key.Public().(ed25519.PublicKey), body)
		},
		Read: func(_ http.Header, body []byte) (chat.Delivery, any, error) {
			if v, is := readValidation(body); is {
				return nil, v.answer(key), nil
			}
			var f frame
			if err := json.Unmarshal(body, &f); err != nil {
				return nil, nil, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
			}
			d, err := readEvent(f.Type, f.Data)
			return d, acknowledged, err
		},
	}
}

// acknowledged is the response to an event that was accepted.
var acknowledged = map[string]int{"op": opCallbackAck}

// Addr returns the address that [ModeHTTP] listens on; nil while it does not.
func (p *platform) Addr() net.Addr { return p.webhook.Addr() }

// keyOf returns the key that QQ derives from the app's secret.
func keyOf(secret string) ed25519.PrivateKey {
	seed := bytes.Repeat([]byte(secret), ed25519.SeedSize/len(secret)+1)
	return ed25519.NewKeyFromSeed(seed[:ed25519.SeedSize])
}

// verify checks that a request is QQ's and at most five minutes old. A repeated one passes:
// its message is recognized by its ID.
func verify(header http.Header, key ed25519.PublicKey, body []byte) error {
	stamp := header.Get("X-Signature-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > maxAge {
		return errors.New("verify the signature: no current timestamp")
	}
	signature, err := hex.DecodeString(header.Get("X-Signature-Ed25519"))
	if err != nil || len(signature) != ed25519.SignatureSize || !ed25519.Verify(key, append([]byte(stamp), body...), signature) {
		return errors.New("verify the signature: not qq's")
	}
	return nil
}

// validation is the request by which QQ checks that an address belongs to the app.
type validation struct {
	Token string `json:"plain_token"`
	At    string `json:"event_ts"`
}

// What is signed in a validation. It need not be signed by QQ, so nothing is signed for it
// that could be an event, which has braces.
var (
	validToken = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	validStamp = regexp.MustCompile(`^[0-9]+$`)
)

const maxValidation = 128 // bytes of what is signed

func readValidation(body []byte) (v validation, is bool) {
	var f frame
	if json.Unmarshal(body, &f) != nil || f.Op != opValidation || json.Unmarshal(f.Data, &v) != nil {
		return v, false
	}
	return v, len(v.Token)+len(v.At) <= maxValidation && validToken.MatchString(v.Token) && validStamp.MatchString(v.At)
}

func (v validation) answer(key ed25519.PrivateKey) any {
	return map[string]string{"plain_token": v.Token, "signature": hex.EncodeToString(ed25519.Sign(key, []byte(v.At+v.Token)))}
}
