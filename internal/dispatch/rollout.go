package dispatch

import (
	"context"
	"fmt"

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
