package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

const (
	redacted = "[redacted]"
	// minSecret is the length from which a secret is looked for: a shorter one would match
	// anything.
	minSecret = 6
)

// Redact removes secrets from an answer, as they are and as JSON has them: a server, or a
// proxy, may repeat the request.
func Redact(answer []byte, secrets ...string) []byte {
	for _, secret := range secrets {
		for _, form := range formsOf(secret) {
			if bytes.Contains(answer, []byte(form)) {
				answer = bytes.ReplaceAll(answer, []byte(form), []byte(redacted))
			}
		}
	}
	return answer
}

// RedactError returns err, which may be nil, or an error without the secrets that its text
// has. That one wraps nothing: the causes have them, too.
func RedactError(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := string(Redact([]byte(text), secrets...)); clean != text {
		return errors.New(clean)
	}
	return err
}

// formsOf returns how a secret may be written; nothing if it is too short.
func formsOf(secret string) []string {
	if len(secret) < minSecret {
		return nil
	}
	encoded, _ := json.Marshal(secret) // a string always is
	inside := string(encoded[1 : len(encoded)-1])
	return []string{secret, inside, strings.ReplaceAll(inside, "/", `\/`)}
}

// secrets returns what the answer to a call must not repeat.
func (c Call) secrets() []string {
	_, token, _ := strings.Cut(c.Header.Get("Authorization"), " ")
	return append([]string{token}, c.Secrets...)
}
