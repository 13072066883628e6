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

// private guards what only the owner of this agent may do: with the token, or
// without one from this machine.
func (a *api) private(next handlerFunc) handlerFunc {
	if a.options.Token == "" {
		return local(next)
	}
	return authorized(a.options.Token, next)
}

// public guards what anyone who reaches the listener may do.
func (a *api) public(next handlerFunc) handlerFunc {
	if a.options.Token == "" {
		return local(next)
	}
	return next
}

// authorized refuses requests without the token. Both sides are hashed so that
// the comparison tells nothing about the token's length either.
func authorized(token string, next handlerFunc) handlerFunc {
	want := sha256.Sum256([]byte(token))
	return func(w nethttp.ResponseWriter, r *nethttp.Request) error {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="holdfast"`)
			return &apiError{status: nethttp.StatusUnauthorized, detail: ErrorDetail{
				Type:    typeAuthentication,
				Message: "missing or wrong token: send the header Authorization: Bearer TOKEN, with the token of channels.http.token",
			}}
		}
		return next(w, r)
	}
}

// local refuses what a web page could make a browser on this machine send:
// without a token, being on loopback is all that protects the API. A page of
// another site sends its Origin; one that has its name resolve to loopback
// sends that name as Host.
func local(next handlerFunc) handlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) error {
		if !isLoopback(r.Host) {
			return forbidden("the host " + r.Host + " is not this machine's: use 127.0.0.1 or localhost, or set channels.http.token")
		}
		if origin := r.Header.Get("Origin"); origin != "" && !sameHost(origin, r.Host) {
			return forbidden("web pages of " + origin + " may not use this API without a token: set channels.http.token")
		}
		return next(w, r)
	}
}

func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}

// isLoopback reports whether a host, with or without a port, is this machine to
// itself only.
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
