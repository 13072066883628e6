package doctor

import (
	"cmp"
	"context"
	"net"

	"github.com/holdfast-ai/holdfast/channels/http/client"
)

// checkAPI checks the HTTP channel.
func (d *doctor) checkAPI(ctx context.Context) {
	settings := d.cfg.Channels.HTTP
	token := "no token, which is safe on loopback"
	if settings.Token != "" {
		token = "with a token"
	}
	if d.running.API == "" && !settings.Enabled {
		d.ok("API", "disabled (channels.http.enabled)")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	health, unanswered := client.New(cmp.Or(d.running.API, "http://"+settings.Listen), settings.Token.Reveal()).Health(ctx)
	_, port, _ := net.SplitHostPort(settings.Listen)
	taken := free(ctx, settings.Listen)
	switch {
	case d.running.API != "" && unanswered != nil:
		d.fail("API", "check the log of the running process", "%s does not answer: %v", d.running.API, unanswered)
	case d.running.API != "":
		d.ok("API", "%s answers, version %s, %s", d.running.API, health.Version, token)
	case taken == nil && port == "0":
		d.ok("API", "will listen on any free port, %s", token)
	case taken == nil:
		d.ok("API", "%s is free to listen on, %s", settings.Listen, token)
	case unanswered == nil:
		d.ok("API", "holdfast already answers at %s, version %s: a starter of this or another home", settings.Listen, health.Version)
	default:
		d.fail("API", "stop the program that uses it, or set channels.http.listen to another address", "it cannot listen on %s: %v", settings.Listen, taken)
	}
}
