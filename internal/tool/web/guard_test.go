package web_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool/web"
)

func TestFetchRefusesURLs(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, url, says string }{
		{"a file", "file:///etc/passwd", "only http and https"},
		{"another scheme", "ftp://example.com/", "only http and https"},
		{"no scheme", "example.com/page", "only http and https"},
		{"no host", "http:///page", "no host"},
		{"credentials", "https://user:pass@example.com/", "user name or password"},
		{"nonsense", "http://[::1", "invalid URL"},
		{"a very long one", "https://example.com/" + strings.Repeat("a", 10_000), "too long"},
		{"nothing", "", "only http and https"},
		{"loopback", "http://127.0.0.1/", "not a public address"},
		{"loopback in disguise", "http://127.1.2.3:8080/", "not a public address"},
		{"loopback of IPv6", "http://[::1]/", "not a public address"},
		{"IPv4 in IPv6", "http://[::ffff:127.0.0.1]/", "not a public address"},
		{"link-local, where clouds keep secrets", "http://169.254.169.254/latest/meta-data", "not a public address"},
		{"private", "http://10.0.0.1/", "not a public address"},
		{"unspecified", "http://0.0.0.0/", "not a public address"},
		{"a name from the hosts file", "http://localhost/", "not a public address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text, err := run(t, web.Options{}, "web_fetch", args{"url": tt.url})
			require.ErrorContains(t, err, tt.says)
			require.Nil(t, remote.As(err), "it would be tried again")
			require.Empty(t, text)
		})
	}
}

func TestFetchGuardsRedirects(t *testing.T) {
	t.Parallel()
	secret := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") })
	for _, target := range []string{
		secret.URL, "http://169.254.169.254/", "http://[::1]:8080/", "file:///etc/passwd", "http://user:pass@example.com/",
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			server := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
			text, err := run(t, web.Options{AllowPrivate: allow(server)}, "web_fetch", args{"url": server.URL})
			require.ErrorContains(t, err, "refused")
			require.Nil(t, remote.As(err))
			require.Empty(t, text)
		})
	}
}

func TestFetchFollowsFiveRedirects(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if left := strings.TrimPrefix(r.URL.Path, "/"); left != "" {
			http.Redirect(w, r, "/"+left[1:], http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "arrived")
	})
	o := web.Options{AllowPrivate: allow(server)}
	text, err := run(t, o, "web_fetch", args{"url": server.URL + "/12345"})
	require.NoError(t, err)
	require.Equal(t, "URL: "+server.URL+"/\n\narrived", text)
	_, err = run(t, o, "web_fetch", args{"url": server.URL + "/123456"})
	require.ErrorContains(t, err, "more than 5 redirects")
}

func TestFetchGuardsResolvedAddresses(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "hello from ", r.Host)
	})
	addr := server.Listener.Addr().(*net.TCPAddr).AddrPort()
	page := fmt.Sprintf("http://rebound.test:%d/", addr.Port())
	o := web.Options{Resolver: resolver(map[string]netip.Addr{
		"rebound.test.": addr.Addr(),
		"cloud.test.":   netip.MustParseAddr("169.254.169.254"),
	})}

	for _, name := range []string{page, "http://cloud.test/"} {
		_, err := run(t, o, "web_fetch", args{"url": name})
		require.ErrorContains(t, err, "not a public address")
	}
	_, err := run(t, o, "web_fetch", args{"url": "http://missing.test/"})
	require.ErrorContains(t, err, "host missing.test not found")
	require.Nil(t, remote.As(err))

	o.AllowPrivate = allow(server)
	text, err := run(t, o, "web_fetch", args{"url": page})
	require.NoError(t, err)
	require.Contains(t, text, "hello from rebound.test")
}

func TestFetchUsesNoProxy(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "direct")
	})
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	o := web.Options{AllowPrivate: allow(server), Resolver: resolver(map[string]netip.Addr{"page.test.": netip.MustParseAddr("127.0.0.1")})}
	text, err := run(t, o, "web_fetch", args{"url": "http://page.test:" + u.Port()})
	require.NoError(t, err)
	require.Contains(t, text, "direct")
}

// resolver asks a DNS server of our own, which knows these hosts.
func resolver(hosts map[string]netip.Addr) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			_ = answer(server, hosts)
		}()
		return client, nil
	}}
}

// answer answers one question, in the framing of DNS over a stream.
func answer(conn net.Conn, hosts map[string]netip.Addr) error {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	packet := make([]byte, int(size[0])<<8|int(size[1]))
	if _, err := io.ReadFull(conn, packet); err != nil {
		return err
	}
	var message dnsmessage.Message
	if err := message.Unpack(packet); err != nil {
		return err
	}
	question := message.Questions[0]
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: message.ID, Response: true, RecursionAvailable: true},
		Questions: message.Questions,
	}
	addr, known := hosts[strings.ToLower(question.Name.String())]
	switch {
	case !known:
		reply.RCode = dnsmessage.RCodeNameError
	case question.Type == dnsmessage.TypeA:
		reply.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.AResource{A: addr.As4()},
		}}
	}
	packed, err := reply.Pack()
	if err != nil {
		return err
	}
	_, err = conn.Write(append([]byte{byte(len(packed) >> 8), byte(len(packed))}, packed...))
	return err
}
