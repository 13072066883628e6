package doctor

import (
	"cmp"
	"context"
	"maps"
	"net"
	"slices"

	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/internal/node"
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
		d.checkReady(ctx, "API", d.running.API)
	case taken == nil && port == "0":
		d.ok("API", "will listen on any free port, %s", token)
	case taken == nil:
		d.ok("API", "%s is free to listen on, %s", settings.Listen, token)
	case unanswered == nil:
		d.ok("API", "holdfast already answers at %s, version %s: a starter of this or another home", settings.Listen, health.Version)
		d.checkReady(ctx, "API", "http://"+settings.Listen)
	default:
		d.fail("API", "stop the program that uses it, or set channels.http.listen to another address", "it cannot listen on %s: %v", settings.Listen, taken)
	}
}

// checkReady asks a running process at a base URL whether it can do its work.
func (d *doctor) checkReady(ctx context.Context, topic, url string) {
	report, err := client.New(url, "").Ready(ctx)
	if err != nil {
		d.fail(topic, "check the log of the running process", "%s/readyz does not answer: %v", url, err)
		return
	}
	for _, part := range slices.Sorted(maps.Keys(report.Parts)) {
		if said := report.Parts[part]; said != "ok" {
			d.warn(topic, "check "+part+", and the log of the running process", "the process at %s is %s: its %s %s", url, report.Status, part, said)
		}
	}
}

// checkProbes asks the process that serves metrics here, such as a worker.
func (d *doctor) checkProbes(ctx context.Context) {
	listen := d.cfg.Metrics.Listen
	if url := node.ListenURL(listen); url != "" && free(ctx, listen) != nil {
		d.checkReady(ctx, "metrics", url)
	}
}
