package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// checkTemporal checks the configured Temporal cluster.
func (d *doctor) checkTemporal(ctx context.Context) {
	settings := d.cfg.Temporal
	connected, err := node.Connect(ctx, d.cfg, settings.Address, discard())
	if err != nil {
		d.fail("temporal", "check temporal.address, temporal.tls and temporal.api_key, and that the cluster is running", "%v", err)
		return
	}
	defer connected.Close()
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	err = connected.CheckNamespace(ctx)
	if errors.Is(err, dispatch.ErrNoNamespace) {
		d.fail("temporal", "create it (`temporal operator namespace create -n "+settings.Namespace+"`), or set temporal.namespace to another one",
			"%s has no namespace %s", settings.Address, settings.Namespace)
		return
	}
	if err != nil {
		d.fail("temporal", "check temporal.api_key and its permissions", "%s, namespace %s: %v", settings.Address, settings.Namespace, err)
		return
	}
	d.ok("temporal", "%s answers and has the namespace %s", settings.Address, settings.Namespace)
	d.checkSearchAttributes(ctx, connected)
	d.checkWorkers(ctx, connected)
}

func (d *doctor) checkWorkers(ctx context.Context, connected *dispatch.Client) {
	problem, err := connected.CheckWorkers(ctx)
	switch {
	case err != nil:
		d.warn("temporal", "check temporal.api_key and its permissions", "cannot tell whether workers run: %v", err)
	case problem != "":
		d.warn("temporal", "start `holdfast worker`, or make the build of a running worker current: `holdfast rollout BUILD` (docs/upgrade.md)",
			"messages wait: %s", problem)
	default:
		d.ok("temporal", "workers take messages")
	}
}

func (d *doctor) checkSearchAttributes(ctx context.Context, connected *dispatch.Client) {
	missing, err := connected.MissingSearchAttributes(ctx)
	if err != nil {
		d.warn("temporal", "ask an administrator to check "+strings.Join(dispatch.SearchAttributes(), ", "), "cannot list its search attributes: %v", err)
		return
	}
	if len(missing) > 0 {
		d.warn("temporal", "`holdfast starter` adds them if permitted; otherwise an administrator can, with `temporal operator search-attribute create --type Keyword`",
			"missing search attributes: %s", strings.Join(missing, ", "))
		return
	}
	d.ok("temporal", "it has the search attributes")
}
