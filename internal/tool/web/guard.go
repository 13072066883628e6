package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

const (
	redirectLimit = 5
	urlLimit      = 8 << 10 // bytes
)

// Address ranges that are not public, in addition to those that [netip.Addr] knows.
var (
	reserved = [...]netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),       // this network
		netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT
		netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
		netip.MustParsePrefix("192.0.2.0/24"),    // documentation
		netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
		netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
		netip.MustParsePrefix("198.51.100.0/24"), // documentation
		netip.MustParsePrefix("203.0.113.0/24"),  // documentation
		netip.MustParsePrefix("240.0.0.0/4"),     // reserved, broadcast
		netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
		netip.MustParsePrefix("2001:db8::/32"),   // documentation
		netip.MustParsePrefix("2002::/16"),       // 6to4: another address inside
		netip.MustParsePrefix("3fff::/20"),       // documentation
	}
	globalIPv6 = netip.MustParsePrefix("2000::/3")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
)

// public reports whether an address is on the public internet. An address that embeds
// an IPv4 address counts as that.
func public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		bytes := addr.As16()
		addr = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	if addr.Zone() != "" || !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false
	}
	if addr.Is6() && !globalIPv6.Contains(addr) {
		return false
	}
	for _, prefix := range reserved {
		if prefix.Contains(addr) {
			return false
		}
	}
	return true
}

// guardedClient returns a client that connects only to public addresses. It checks
// the dialled address, so host names, redirects and DNS rebinding cannot circumvent
// it. It uses no proxy.
func guardedClient(o Options) *http.Client {
	dialer := &net.Dialer{
		Timeout:  10 * time.Second,
		Resolver: o.Resolver,
		Control: func(_, address string, _ syscall.RawConn) error {
			addr, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("dial %s: %w", address, err)
			}
			if public(addr.Addr()) || (o.AllowPrivate != nil && o.AllowPrivate(addr)) {
				return nil
			}
			return &refusal{fmt.Sprintf("refused: %s is not a public address", addr.Addr())}
		},
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 256 << 10,
			MaxIdleConns:           20,
			IdleConnTimeout:        30 * time.Second,
		},
		CheckRedirect: func(request *http.Request, via []*http.Request) error {
			if len(via) > redirectLimit {
				return &refusal{fmt.Sprintf("refused: more than %d redirects", redirectLimit)}
			}
			return checkURL(request.URL)
		},
	}
}

// parseURL parses a URL given by a model.
func parseURL(text string) (*url.URL, error) {
	if len(text) > urlLimit {
		return nil, fmt.Errorf("the URL is too long: %d bytes, the limit is %d", len(text), urlLimit)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("invalid URL; give a full one, like https://example.com/page")
	}
	return u, checkURL(u)
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return &refusal{fmt.Sprintf("refused: only http and https URLs are supported, not %q; give a full URL, like https://example.com/page", u.Scheme)}
	case u.Hostname() == "":
		return &refusal{"refused: the URL has no host"}
	case u.User != nil:
		return &refusal{"refused: the URL contains a user name or password; leave them out"}
	}
	return nil
}
