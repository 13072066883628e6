// Package dispatch is the one door to Temporal outside workflows and activities. It
// connects, starts and signals workflows, keeps schedules, describes and stops runs,
// and recovers what a dead process left behind. The options that a workflow starts
// with are written here once.
package dispatch

import (
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// SDKVersion is the version of the Temporal SDK.
const SDKVersion = temporal.SDKVersion

// Client is a deployment's connection to its Temporal namespace. Safe for concurrent use.
type Client struct {
	sdk       client.Client
	namespace string
	names     protocol.Names
	transit   *transit
}

// New returns the client of a deployment, by its names in a namespace, on an open
// connection.
func New(sdk client.Client, namespace string, names protocol.Names) *Client {
	return &Client{sdk: sdk, namespace: namespace, names: names, transit: &transit{}}
}

// Names are the names of the deployment.
func (c *Client) Names() protocol.Names { return c.names }

// SDK returns the connection, for the worker.
func (c *Client) SDK() client.Client { return c.sdk }

// runningQuery selects the deployment's open runs in visibility.
func (c *Client) runningQuery() string {
	return fmt.Sprintf("ExecutionStatus = 'Running' AND TaskQueue = '%s'", c.names.AgentQueue())
}

// Close closes the connection.
func (c *Client) Close() { c.sdk.Close() }
