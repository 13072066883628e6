package doctor

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// platformTimeout bounds the check of a chat platform.
const platformTimeout = time.Minute

// checkPlatforms checks the chat platforms, all at once: without a network each takes a while.
func (d *doctor) checkPlatforms(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, platformTimeout)
	defer cancel()
	all := node.Platforms(d.cfg.Channels)
	findings := make([][]chat.Finding, len(all))
	var checks sync.WaitGroup
	for i, platform := range all {
		checks.Go(func() { findings[i] = d.checkPlatform(ctx, platform) })
	}
	checks.Wait()
	for i, platform := range all {
		for _, f := range findings[i] {
			d.add(Level(f.Level), platform.Name, f.Fix, "%s", []any{f.Text})
		}
	}
}

// checkPlatform checks a chat platform and what we need for it.
func (d *doctor) checkPlatform(ctx context.Context, p node.Platform) []chat.Finding {
	if !p.Enabled {
		if p.Credential == "" {
			return nil
		}
		return []chat.Finding{chat.Passed("disabled (channels.%s.enabled), although %s is set", p.Name, p.Credential)}
	}
	opened, err := p.Open(discard())
	if err != nil {
		return []chat.Finding{chat.Failed("see docs/"+p.Name+".md", "%v", err)}
	}
	if stored, ok := opened.(channels.Stored); ok && d.stored {
		shared, err := store.Open(ctx, store.Options{DSN: d.cfg.StoreDSN()})
		if err != nil {
			return []chat.Finding{chat.Failed("see the check of the store", "%v", err)}
		}
		defer shared.Close()
		stored.UseStore(shared)
	}
	channel, ok := opened.(interface {
		CheckSetup(ctx context.Context) []chat.Finding
		Webhook() *chat.Webhook
	})
	if !ok {
		return nil
	}
	findings := channel.CheckSetup(ctx)
	if hook := channel.Webhook(); hook != nil {
		findings = append(findings, d.checkHook(ctx, p.Name, hook))
	}
	return findings
}

// checkHook checks our end of the requests that a platform sends.
func (d *doctor) checkHook(ctx context.Context, name string, hook *chat.Webhook) chat.Finding {
	err := free(ctx, hook.Listen)
	switch {
	case err == nil && d.running.PID != 0:
		return chat.Warned("restart it if the settings have changed", "process %d is running but does not listen on %s (channels.%s.listen)", d.running.PID, hook.Listen, name)
	case err == nil:
		return chat.Passed("%s is free to listen on, path %s for %s's requests", hook.Listen, hook.Path, hook.Title)
	case answers(ctx, hook):
		return chat.Passed("holdfast answers at %s, path %s", hook.Listen, hook.Path)
	}
	return chat.Failed("stop the program that uses it, or set channels."+name+".listen to another address", "it cannot listen on %s: %v", hook.Listen, err)
}

// answers reports whether holdfast serves the requests of a platform.
func answers(ctx context.Context, hook *chat.Webhook) bool {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	address := node.ListenURL(hook.Listen) + "/" + strings.Trim(hook.Path, "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/health", http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}
