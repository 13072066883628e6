package wechattest

import (
	"bytes"
	"crypto/aes"
	"io"
	"net/http"
)

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(io.LimitReader(r.Body, 100<<20))
	defer s.act()()
	param := r.URL.Query().Get("encrypted_query_param")
	if err != nil || !s.uploads[param] || r.URL.Query().Get("filekey") == "" || len(content)%aes.BlockSize != 0 {
		w.Header().Set("X-Error-Message", "invalid upload")
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	delete(s.uploads, param)
	id := s.mint()
	s.files[id] = content
	w.Header().Set("X-Encrypted-Param", id)
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	content, found := s.files[r.URL.Query().Get("encrypted_query_param")]
	s.mu.Unlock()
	if !found {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(content)
}

// Forget removes all files from the CDN.
func (s *Server) Forget() {
	defer s.act()()
	clear(s.files)
}

func encrypt(content, key []byte) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	n := aes.BlockSize - len(content)%aes.BlockSize
	padded := append(bytes.Clone(content), bytes.Repeat([]byte{byte(n)}, n)...)
	out := make([]byte, len(padded))
	for i := 0; i < len(out); i += aes.BlockSize {
		block.Encrypt(out[i:], padded[i:])
	}
	return out
}

func decrypt(content, key []byte) []byte {
	block, err := aes.NewCipher(key)
	if err != nil || len(content) == 0 {
		return nil
	}
	out := make([]byte, len(content))
	for i := 0; i < len(out); i += aes.BlockSize {
		block.Decrypt(out[i:], content[i:])
	}
	return out[:len(out)-int(out[len(out)-1])]
}
