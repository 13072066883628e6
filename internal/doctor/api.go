package doctor

import (
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
	if d.running.API != "" {
		ctx, cancel := context.WithTimeout(ctx, apiTimeout)
		defer cancel()
		health, err := client.New(d.running.API, settings.Token.Reveal()).Health(ctx)
		if err != nil {
			d.fail("API", "check the log of the running process", "%s does not answer: %v", d.running.API, err)
			return
		}
		d.ok("API", "%s answers, version %s, %s", d.running.API, health.Version, token)
		return
	}
	if !settings.Enabled {
		d.ok("API", "disabled (channels.http.enabled)")
		return
	}
	if err := free(ctx, settings.Listen); err != nil {
		ctx, cancel := context.WithTimeout(ctx, apiTimeout)
		defer cancel()
		if health, answer := client.New("http://"+settings.Listen, settings.Token.Reveal()).Health(ctx); answer == nil {
			d.ok("API", "holdfast already answers at %s, version %s: a starter of this or another home", settings.Listen, health.Version)
			return
		}
		d.fail("API", "stop the program that uses it, or set channels.http.listen to another address", "it cannot listen on %s: %v", settings.Listen, err)
		return
	}
	if _, port, err := net.SplitHostPort(settings.Listen); err == nil && port == "0" {
		d.ok("API", "will listen on any free port, %s", token)
		return
	}
	d.ok("API", "%s is free to listen on, %s", settings.Listen, token)
}
