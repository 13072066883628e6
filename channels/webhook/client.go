package webhook

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

const connectTimeout = 10 * time.Second

// newClient returns a client that follows no redirects and uses no proxy. Unless private, it
// connects to public addresses only: it checks the address that is dialed, whatever name
// resolves to it.
func newClient(private bool, timeout time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: connectTimeout}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("dial %s: %w", address, err)
			}
			if !isPublic(at.Addr().Unmap()) {
				return fmt.Errorf("%s is not a public address; allow it with private: true", at.Addr())
			}
			return nil
		}
	}
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: connectTimeout,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
		},
	}
}

var (
	shared     = netip.MustParsePrefix("100.64.0.0/10") // carrier-grade NAT
	translated = netip.MustParsePrefix("64:ff9b::/96")  // an IPv4 address inside
	tunneled   = netip.MustParsePrefix("2002::/16")     // the same
)

func isPublic(a netip.Addr) bool {
	return a.IsGlobalUnicast() && !a.IsPrivate() && a.Zone() == "" && !shared.Contains(a) && !translated.Contains(a) && !tunneled.Contains(a)
}
