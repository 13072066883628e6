package feishu

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// maxAge is how old a signed request may be. Deliveries that are repeated are signed anew.
const maxAge = 5 * time.Minute

var errForged = errors.New("the request is not the platform's")

// verify checks that a request is the platform's: by its signature and age, if there is an
// encrypt key, and by the verification token, if there is one. A repeated request passes: its
// message is recognized by its ID.
func (p *platform) verify(header http.Header, body []byte, now time.Time) error {
	payload, err := decrypted(body, p.o.EncryptKey)
	if err != nil {
		return fmt.Errorf("%w: %w", errForged, err)
	}
	var e envelope
	if err := json.Unmarshal(payload, &e); err != nil {
		return fmt.Errorf("%w: not JSON", errForged)
	}
	if want := p.o.VerificationToken; want != "" && subtle.ConstantTimeCompare([]byte(e.token()), []byte(want)) != 1 {
		return fmt.Errorf("%w: another verification token", errForged)
	}
	// The check of a new address may come without a signature. It delivers nothing.
	if p.o.EncryptKey == "" || e.Type == typeChallenge && header.Get("X-Lark-Signature") == "" {
		return nil
	}
	timestamp := header.Get("X-Lark-Request-Timestamp")
	sum := sha256.Sum256([]byte(timestamp + header.Get("X-Lark-Request-Nonce") + p.o.EncryptKey + string(body)))
	if subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum[:])), []byte(header.Get("X-Lark-Signature"))) != 1 {
		return fmt.Errorf("%w: another signature", errForged)
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > maxAge {
		return fmt.Errorf("%w: its time is %q", errForged, timestamp)
	}
	return nil
}

// decrypted returns the payload of a body, which is encrypted if the app has a key: by
// AES-256-CBC with a hash of the key, after the initialization vector.
func decrypted(body []byte, key string) ([]byte, error) {
	var sealed struct {
		Encrypt string `json:"encrypt"`
	}
	if err := json.Unmarshal(body, &sealed); err != nil {
		return nil, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	switch {
	case sealed.Encrypt == "":
		return body, nil
	case key == "":
		return nil, fmt.Errorf("%w: it is encrypted, and channels.feishu.encrypt_key is not set", chat.ErrMalformed)
	}
	text, err := base64.StdEncoding.DecodeString(sealed.Encrypt)
	if err != nil || len(text) < 2*aes.BlockSize || len(text)%aes.BlockSize != 0 {
		return nil, fmt.Errorf("%w: not encrypted as a whole", chat.ErrMalformed)
	}
	hashed := sha256.Sum256([]byte(key))
	block, err := aes.NewCipher(hashed[:])
	if err != nil {
		return nil, err
	}
	plain := text[aes.BlockSize:]
	cipher.NewCBCDecrypter(block, text[:aes.BlockSize]).CryptBlocks(plain, plain)
	padding := int(plain[len(plain)-1])
	if padding < 1 || padding > aes.BlockSize || padding > len(plain) {
		return nil, fmt.Errorf("%w: encrypted with another key", chat.ErrMalformed)
	}
	return plain[:len(plain)-padding], nil
}
