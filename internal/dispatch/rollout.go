package dispatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// SetCurrentBuild has new runs, and those that continue as new, run on the workers of a build.
// Previous is the build that was current; empty if none was.
func (c *Client) SetCurrentBuild(ctx context.Context, deployment, build string) (previous string, err error) {
	deployment = c.names.Deployment(deployment)
	handle := c.sdk.WorkerDeploymentClient().GetHandle(deployment)
	now, err := handle.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	if isNotFound(err) {
		return "", fmt.Errorf("no worker of the deployment %s has connected yet; start one first", deployment)
	}
	if err != nil {
		return "", fmt.Errorf("describe the deployment %s: %w", deployment, err)
	}
	if current := now.Info.RoutingConfig.CurrentVersion; current != nil {
		previous = current.BuildID
	}
	_, err = handle.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build, ConflictToken: now.ConflictToken})
	if isNotFound(err) {
		return "", fmt.Errorf("no worker of build %s of the deployment %s has connected yet; start one first", build, deployment)
	}
	if err != nil {
		return "", fmt.Errorf("make build %s of the deployment %s current: %w", build, deployment, err)
	}
	return previous, nil
}

// CheckWorkers returns why the deployment's messages wait for a worker; empty if they do not.
// A worker that has ended counts for a minute.
func (c *Client) CheckWorkers(ctx context.Context) (problem string, err error) {
	queue := c.names.AgentQueue()
	described, err := c.sdk.DescribeTaskQueue(ctx, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return "", fmt.Errorf("describe the task queue %s: %w", queue, err)
	}
	builds := map[string]bool{}
	for _, poller := range described.GetPollers() {
		if time.Since(poller.GetLastAccessTime().AsTime()) > pollTime {
			continue
		}
		build := ""
		if o := poller.GetDeploymentOptions(); o.GetWorkerVersioningMode() == enumspb.WORKER_VERSIONING_MODE_VERSIONED {
			build = o.GetBuildId()
		}
		builds[build] = true
	}
	current := described.GetVersioningInfo().GetCurrentDeploymentVersion().GetBuildId()
	switch {
	case len(builds) == 0:
		return "no worker polls the task queue " + queue, nil
	case builds[current]:
		return "", nil
	case current == "":
		return fmt.Sprintf("no build is current, but all workers have one (%s)", strings.Join(slices.Sorted(maps.Keys(builds)), ", ")), nil
	}
	return "no worker of build " + current + ", which is current, polls the task queue " + queue, nil
}

// pollTime is the longest time that a poll takes.
const pollTime = time.Minute
