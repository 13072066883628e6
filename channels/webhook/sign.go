package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

const (
	secretPrefix = "whsec_"
	leastSecret  = 24 // bytes
)

// keyOf returns the key of a secret: base64 after whsec_, or else the text itself.
func keyOf(secret string) ([]byte, error) {
	key := []byte(secret)
	if encoded, is := strings.CutPrefix(secret, secretPrefix); is {
		var err error
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, fmt.Errorf("what follows %s is not base64", secretPrefix)
		}
	}
	if len(key) < leastSecret {
		return nil, fmt.Errorf("has %d bytes; must have at least %d", len(key), leastSecret)
	}
	return key, nil
}

// Sign returns the signature of a request as Standard Webhooks has it: v1, and the HMAC-SHA256
// of ID.TIMESTAMP.BODY in base64.
func Sign(secret, id string, timestamp int64, body []byte) (string, error) {
	key, err := keyOf(secret)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + strconv.FormatInt(timestamp, 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}

// signatures returns a signature for each secret of an endpoint.
func signatures(e Endpoint, id string, timestamp int64, body []byte) (string, error) {
	all, err := Sign(e.Secret, id, timestamp, body)
	if err != nil || e.OldSecret == "" {
		return all, err
	}
	old, err := Sign(e.OldSecret, id, timestamp, body)
	return all + " " + old, err
}
