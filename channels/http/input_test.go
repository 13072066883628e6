package http_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/http"
)

func TestBadInputIsRejectedWithAReason(t *testing.T) {
	t.Parallel()
	s := start(t, http.Options{}, nil)
	long := strings.Repeat("x", 300)
	tests := []struct {
		name   string
		method string
		path   string
		body   string
		status int
		want   string
	}{
		{"no body", "POST", "/v1/messages", "", 400, "the body is empty"},
		{"not JSON", "POST", "/v1/messages", "hi", 400, "invalid JSON: invalid character 'h'"},
		{"half an object", "POST", "/v1/messages", `{"text":"hi`, 400, "invalid JSON: unexpected EOF"},
		{"two objects", "POST", "/v1/messages", `{"text":"hi"}{"text":"ho"}`, 400, "data after the object"},
		{"an unknown field", "POST", "/v1/messages", `{"txt":"hi"}`, 400, `unknown field \"txt\"`},
		{"a wrong type", "POST", "/v1/messages", `{"text":7}`, 400, `text must be a string, not a number`},
		{"an empty text", "POST", "/v1/messages", `{"text":" \n"}`, 400, "text is empty"},
		{"a NUL", "POST", "/v1/messages", `{"text":"a\u0000b"}`, 400, "text contains a NUL"},
		{"invalid UTF-8", "POST", "/v1/messages", "{\"text\":\"a\xffb\"}", 400, "not valid UTF-8"},
		{"a long ID", "POST", "/v1/messages", `{"text":"hi","id":"` + long + `"}`, 400, "id has 300 bytes; the limit is 256"},
		{"a long session", "POST", "/v1/messages", `{"text":"hi","session":"` + long + `"}`, 400, "session has 300 bytes"},
		{"a path as ID", "POST", "/v1/messages", `{"text":"hi","id":".."}`, 400, "id may not be"},
		{"a control character", "POST", "/v1/messages", `{"text":"hi","sender":"a\nb"}`, 400, "sender must be UTF-8 without control characters"},
		{"a text of 2 MB", "POST", "/v1/messages", `{"text":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "a text may have up to 1048576 bytes"},
		{"a message of 10 MB", "POST", "/v1/messages", `{"text":"` + strings.Repeat("x", 10<<20) + `"}`, 413, "a text may have up to 1048576 bytes and a request up to 8388608"},
		{"a wrong method", "GET", "/v1/messages", "", 405, "use POST here, not GET"},
		{"a wrong method for a message", "DELETE", "/v1/messages/a1", "", 405, "use GET here, not DELETE"},
		{"a chat of 10 MB", "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"` + strings.Repeat("x", 10<<20) + `"}]}`, 413, "a text may have up to"},
		{"a chat without a user", "POST", "/v1/chat/completions", `{"messages":[{"role":"system","content":"x"}]}`, 400, "no message with the role user"},
		{"a chat without a text", "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":null}]}`, 400, "messages is empty"},
		{"a chat with an image", "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "type image_url are not supported"},
		{"a chat with a strange content", "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":7}]}`, 400, "content must be a string or a list of parts"},
		{"a chat with tools", "POST", "/v1/chat/completions", `{"tools":[{}],"messages":[{"role":"user","content":"x"}]}`, 400, `"param":"tools","code":"unsupported_parameter"`},
		{"a chat with functions", "POST", "/v1/chat/completions", `{"functions":[{}],"messages":[{"role":"user","content":"x"}]}`, 400, `"param":"functions","code":"unsupported_parameter"`},
		{"a chat with two answers", "POST", "/v1/chat/completions", `{"n":2,"messages":[{"role":"user","content":"x"}]}`, 400, `"param":"n"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, header, body := s.do(tt.method, tt.path, tt.body)
			require.Equal(t, tt.status, status, body)
			require.Equal(t, "application/json; charset=utf-8", header.Get("Content-Type"))
			require.Contains(t, body, `{"error":{"message":"`)
			require.Contains(t, body, tt.want)
			if status == 405 {
				require.NotEmpty(t, header.Get("Allow"))
			}
		})
	}
	require.Empty(t, s.backend.Accepted())
}

func TestTextsAreAcceptedInFull(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"1 MB":                     strings.Repeat("é", 1<<19),
		"1 MB, every one escaped":  strings.Repeat("\x01", 1<<20),
		"letters, signs and marks": "héllo 👩‍👩‍👧 \t<b>&\"\\\u2028 שלום",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, http.Options{}, nil)
			status, _, body := s.do("POST", "/v1/messages", fmt.Sprintf(`{"text":%s}`, quote(t, text)), "Content-Type", "text/plain")
			require.Equal(t, 202, status, body)
			require.Equal(t, text, s.backend.Accepted()[0].Text)
		})
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	s := start(t, http.Options{Token: "secret"}, nil)
	for _, path := range []string{"/v1/messages", "/v1/messages/x", "/v1/messages/x/events", "/v1/sessions/x/messages", "/v1/chat/completions", "/v1/models", "/other"} {
		for _, authorization := range []string{"", "Bearer", "Bearer wrong", "Bearer secret2", "Basic secret", "secret"} {
			status, header, body := s.do("GET", path, "", "Authorization", authorization)
			require.Equal(t, 401, status, "%s %q", path, authorization)
			require.Equal(t, `Bearer realm="holdfast"`, header.Get("WWW-Authenticate"))
			require.Contains(t, body, "authentication_error")
		}
	}
	require.Empty(t, s.backend.Accepted())

	status, _, _ := s.do("POST", "/v1/messages", `{"text":"hi"}`,
		"Authorization", "bearer secret", "Host", "agent.example.com", "Origin", "https://other.example.com")
	require.Equal(t, 202, status)
}

func TestWebPagesAreRefusedWithoutAToken(t *testing.T) {
	t.Parallel()
	s := start(t, http.Options{}, nil)
	tests := []struct {
		name   string
		host   string
		origin string
		status int
	}{
		{"a program", "127.0.0.1:8090", "", 202},
		{"localhost", "localhost", "", 202},
		{"IPv6", "[::1]:8090", "", 202},
		{"our own page", "localhost:8090", "http://localhost:8090", 202},
		{"a page of another site", "127.0.0.1:8090", "https://evil.example.com", 403},
		{"a page of another port", "127.0.0.1:8090", "http://127.0.0.1:9999", 403},
		{"a page without an origin", "127.0.0.1:8090", "null", 403},
		{"DNS rebinding", "evil.example.com:8090", "http://evil.example.com:8090", 403},
		{"a name that looks like loopback", "127.0.0.1.example.com", "", 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			headers := []string{"Host", tt.host}
			if tt.origin != "" {
				headers = append(headers, "Origin", tt.origin)
			}
			status, _, body := s.do("POST", "/v1/messages", `{"text":"hi"}`, headers...)
			require.Equal(t, tt.status, status, body)
		})
	}
}

func TestNew(t *testing.T) {
	t.Parallel()

	t.Run("beyond loopback a token is required", func(t *testing.T) {
		t.Parallel()
		for _, listen := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "agent.example.com:0"} {
			_, err := http.New(http.Options{Listen: listen})
			require.ErrorContains(t, err, "no token is set", listen)
		}
		_, err := http.New(http.Options{Listen: "0.0.0.0:0", Token: "secret"})
		require.NoError(t, err)
	})

	t.Run("a port in use is an error", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = listener.Close() }()
		_, err = http.New(http.Options{Listen: listener.Addr().String()})
		require.ErrorContains(t, err, "address already in use")
	})
}
