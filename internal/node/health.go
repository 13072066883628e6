package node

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/health"
)

// checkTimeout bounds how long a part may take to answer a check.
const checkTimeout = 2 * time.Second

// checkHealth asks the store and Temporal. A process that stores messages is not
// unavailable without Temporal: they are answered when it is back.
func (n *Node) checkHealth(ctx context.Context) health.Report {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var store, temporal string
	var asking sync.WaitGroup
	asking.Go(func() { store = n.checkStore(ctx) })
	asking.Go(func() { temporal = n.checkTemporal(ctx) })
	asking.Wait()
	report := health.Report{Status: health.OK, Parts: map[string]string{"store": store, "temporal": temporal}}
	switch {
	case store != healthy:
		report.Status = health.Unavailable
	case temporal != healthy && n.roles.Starter:
		report.Status = health.Degraded
	case temporal != healthy:
		report.Status = health.Unavailable
	}
	return report
}

// healthy is said of a part that answers.
const healthy = "ok"

func (n *Node) checkStore(ctx context.Context) string {
	if n.Store.Ping(ctx) != nil {
		return "does not answer: check that the database runs, and store.dsn"
	}
	return healthy
}

func (n *Node) checkTemporal(ctx context.Context) string {
	switch {
	case n.Engine != nil && n.Engine.Address() == "":
		return "starting"
	case n.Temporal.CheckNamespace(ctx) != nil:
		return "does not answer: " + temporalRemedy
	case !n.joined.Load():
		return "starting"
	}
	return healthy
}
