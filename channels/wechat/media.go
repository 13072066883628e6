package wechat

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/md5" //nolint:gosec // WeChat asks for it
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// What a file is uploaded as.
const (
	uploadImage = 1
	uploadFile  = 3
)

// addressOf returns where a file can be fetched; empty: nowhere.
func (p *platform) addressOf(m media) string {
	switch {
	case m.FullURL != "":
		return m.FullURL
	case m.Param != "":
		return p.cdn("download", url.Values{"encrypted_query_param": {m.Param}})
	}
	return ""
}

func (p *platform) cdn(method string, query url.Values) string {
	return strings.TrimSuffix(p.o.CDNURL, "/") + "/" + method + "?" + query.Encode()
}

// keyOf returns a key in hexadecimal; empty if it is none.
func keyOf(encoded string) string {
	key, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case err == nil && len(key) == aes.BlockSize:
		return hex.EncodeToString(key)
	case err == nil && len(key) == hex.EncodedLen(aes.BlockSize):
		return string(key)
	}
	return ""
}

// Describe implements [chat.Files].
func (*platform) Describe(_ context.Context, f domain.File) (domain.File, error) { return f, nil }

// Fetch implements [chat.Files]. It holds the file in memory: the end of a file says how
// much of its last block belongs to it.
func (p *platform) Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error) {
	body, err := p.files.Open(ctx, f.URL)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	content, err := io.ReadAll(io.LimitReader(body, p.o.FileLimit+aes.BlockSize+1))
	if err != nil {
		return nil, &remote.Error{Service: Name, Err: fmt.Errorf("download: %w", err)}
	}
	if int64(len(content)) > p.o.FileLimit+aes.BlockSize {
		return nil, chat.Unreadable("is larger than the limit")
	}
	if f.ID != "" {
		if content, err = decrypt(content, f.ID); err != nil {
			return nil, chat.Unreadable("cannot be decrypted")
		}
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// upload puts a file into WeChat's CDN and returns it as a part of a message.
func (p *platform) upload(ctx context.Context, account Account, chat string, msg chat.Message) (item, error) {
	key, name := make([]byte, aes.BlockSize), make([]byte, aes.BlockSize)
	_, _ = rand.Read(key) // never fails
	_, _ = rand.Read(name)
	encrypted, sum := encrypt(msg.Content, key), md5.Sum(msg.Content) //nolint:gosec // WeChat asks for it
	isImage := strings.HasPrefix(http.DetectContentType(msg.Content), "image/")
	kind := uploadFile
	if isImage {
		kind = uploadImage
	}
	var place struct {
		Param string `json:"upload_param"`
		URL   string `json:"upload_full_url"`
	}
	err := p.client.call(ctx, account, "getuploadurl", map[string]any{
		"filekey": hex.EncodeToString(name), "media_type": kind, "to_user_id": chat, "rawsize": len(msg.Content), "rawfilemd5": hex.EncodeToString(sum[:]),
		"filesize": len(encrypted), "no_need_thumb": true, "aeskey": hex.EncodeToString(key),
	}, &place)
	if err != nil {
		return item{}, err
	}
	if place.URL == "" {
		place.URL = p.cdn("upload", url.Values{"encrypted_query_param": {place.Param}, "filekey": {hex.EncodeToString(name)}})
	}
	param, err := p.put(ctx, place.URL, encrypted)
	if err != nil {
		return item{}, err
	}
	stored := media{Param: param, Key: base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(key))), Type: 1}
	if isImage {
		return item{Type: itemImage, Image: &imageItem{Media: stored, MidSize: len(encrypted)}}, nil
	}
	return item{Type: itemFile, File: &fileItem{Media: stored, Name: msg.File, Size: strconv.Itoa(len(msg.Content))}}, nil
}

// put uploads an encrypted file and returns by what it is found.
func (p *platform) put(ctx context.Context, address string, content []byte) (string, error) {
	if !p.o.trusts(address) {
		return "", &remote.Error{Service: Name, Status: http.StatusBadGateway, Err: errors.New("upload: WeChat named an address that is not its own")}
	}
	answer, err := p.client.web.Do(ctx, web.Call{Name: "upload", Method: http.MethodPost, URL: address, Raw: content, Timeout: fileTimeout})
	if err != nil {
		return "", err
	}
	param := answer.Header.Get("X-Encrypted-Param")
	switch {
	case answer.Status != http.StatusOK:
		return "", answer.Refused(nil)
	case param == "":
		return "", &remote.Error{Service: Name, Status: http.StatusBadGateway, Err: errors.New("upload: the answer does not say where the file is")}
	}
	return param, nil
}

// encrypt encrypts with AES-128 in ECB mode and PKCS #7 padding, as the CDN has it.
func encrypt(content, key []byte) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key's length is ours
	}
	padding := aes.BlockSize - len(content)%aes.BlockSize
	out := append(bytes.Clone(content), bytes.Repeat([]byte{byte(padding)}, padding)...)
	for at := 0; at < len(out); at += aes.BlockSize {
		block.Encrypt(out[at:at+aes.BlockSize], out[at:at+aes.BlockSize])
	}
	return out
}

var errNotEncrypted = errors.New("not encrypted with this key")

// decrypt undoes [encrypt]. The key is in hexadecimal.
func decrypt(content []byte, hexKey string) ([]byte, error) {
	key, err := hex.DecodeString(hexKey)
	if err != nil || len(key) != aes.BlockSize || len(content) == 0 || len(content)%aes.BlockSize != 0 {
		return nil, errNotEncrypted
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(content))
	for at := 0; at < len(out); at += aes.BlockSize {
		block.Decrypt(out[at:at+aes.BlockSize], content[at:at+aes.BlockSize])
	}
	padding := int(out[len(out)-1])
	if padding == 0 || padding > aes.BlockSize || !bytes.Equal(out[len(out)-padding:], bytes.Repeat([]byte{byte(padding)}, padding)) {
		return nil, errNotEncrypted
	}
	return out[:len(out)-padding], nil
}
