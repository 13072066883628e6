package http

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	nethttp "net/http"
	"net/netip"
	"net/url"
	"strings"
)

// private admits the owner of the agent: clients with the token or, if none is set,
// programs on this machine.
func (a *api) private(next handlerFunc) handlerFunc {
	if a.options.Token == "" {
		return local(next)
	}
	return authorized(a.options.Token, next)
}

// public admits every client; if no token is set, programs on this machine only.
func (a *api) public(next handlerFunc) handlerFunc {
	if a.options.Token == "" {
		return local(next)
	}
	return next
}

// authorized rejects requests without the token. It compares hashes so that timing
// does not reveal the token's length.
func authorized(token string, next handlerFunc) handlerFunc {
	want := sha256.Sum256([]byte(token))
	return func(w nethttp.ResponseWriter, r *nethttp.Request) error {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="holdfast"`)
			return newError(nethttp.StatusUnauthorized, typeAuthentication, "",
				"missing or wrong token: send the header Authorization: Bearer TOKEN, with the token of channels.http.token")
		}
		return next(w, r)
	}
}

// local rejects requests that a web page could make a browser on this machine send.
// Without a token, listening on loopback is all that protects the API. A page of
// another site sends its Origin; one whose name resolves to loopback (DNS rebinding)
// sends that name as Host.
func local(next handlerFunc) handlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) error {
		if !isLoopback(r.Host) {
			return forbidden("the host " + r.Host + " is not this machine: use 127.0.0.1 or localhost, or set channels.http.token")
		}
		if origin := r.Header.Get("Origin"); origin != "" && !sameHost(origin, r.Host) {
			return forbidden("web pages from " + origin + " may not use this API without a token: set channels.http.token")
		}
		return next(w, r)
	}
}

func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}

// isLoopback reports whether a host, with or without a port, is a loopback address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
