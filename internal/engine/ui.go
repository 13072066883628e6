package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/api"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/cors"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/headers"
	"github.com/temporalio/ui-server/v2/server/route"
	uiassets "github.com/temporalio/ui-server/v2/ui"
)

// ui is the web UI. It uses ui-server's handlers on our own listener, because
// ui-server ends the process if its port is in use.
type ui struct {
	url      string
	listener net.Listener
	server   *http.Server
}

// listenUI binds the UI's port.
func listenUI(ctx context.Context, opts Options) (*ui, error) {
	listener, err := listen(ctx, opts.Host, opts.UIPort, "temporal.ui_port")
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return &ui{
		url:      "http://" + reachable(opts.Host, port),
		listener: listener,
		server:   &http.Server{ReadHeaderTimeout: 10 * time.Second},
	}, nil
}

// serve serves the UI of the engine at address.
func (u *ui) serve(address, namespace string) error {
	handler, err := uiHandler(&config.Config{
		TemporalGRPCAddress: address,
		EnableUI:            true,
		DefaultNamespace:    namespace,
		CORS:                config.CORS{CookieInsecure: true},
		DisableNewsFetch:    true,
		HideLogs:            true,
	})
	if err != nil {
		return fmt.Errorf("engine: web UI: %w", err)
	}
	u.server.Handler = guardHost(handler, u.listener.Addr())
	go func() { _ = u.server.Serve(u.listener) }()
	return nil
}

// guardHost rejects requests for another host while the UI is on loopback. Otherwise a
// web page could read and end runs by DNS rebinding.
func guardHost(next http.Handler, address net.Addr) http.Handler {
	if tcp, ok := address.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host) {
			http.Error(w, "the UI answers at 127.0.0.1 and localhost only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLocal reports whether a request's host, with or without a port, is a loopback name
// or address.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (u *ui) close() {
	_ = u.server.Close()
	_ = u.listener.Close()
}

func uiHandler(cfg *config.Config) (http.Handler, error) {
	provider, err := config.NewConfigProviderWithRefresh(cfg)
	if err != nil {
		return nil, err
	}
	assets, err := uiassets.Assets()
	if err != nil {
		return nil, err
	}
	local, err := fs.Sub(assets, "local")
	if err != nil {
		return nil, err
	}
	e := echo.New()
	e.Use(middleware.Recover(), middleware.Gzip(), middleware.Secure())
	e.Use(cors.CORSMiddleware(cors.CORSConfig{
		AllowHeaders:     []string{echo.HeaderOrigin, echo.HeaderContentType, echo.HeaderAccept, echo.HeaderXCSRFToken},
		AllowCredentials: true,
		ConfigProvider:   provider,
	}))
	e.Use(csrf.EnsureTokenCookie(false), middleware.CSRFWithConfig(csrf.MiddlewareConfig(provider, false)))
	route.SetHealthRoute(e)
	err = errors.Join(
		route.SetAPIRoutes(e, provider, []api.Middleware{headers.WithForwardHeaders([]string{"Caller-Type"})}),
		route.SetUIRoutes(e, "", local, provider),
	)
	route.SetAuthRoutes(e, provider)
	route.SetRenderRoute(e, "/")
	return e, err
}
