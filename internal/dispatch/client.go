// Package dispatch is the one door to Temporal outside workflows and activities. It
// connects, starts and signals workflows, keeps schedules, describes and stops runs,
// and recovers what a dead process left behind. The options that a workflow starts
// with are written here once.
package dispatch

import (
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// SDKVersion is the version of the Temporal SDK.
const SDKVersion = temporal.SDKVersion

// Client is a connection to one Temporal namespace. Safe for concurrent use.
type Client struct {
	sdk       client.Client
	namespace string
}

// New returns a client of a namespace on an open connection.
func New(sdk client.Client, namespace string) *Client {
	return &Client{sdk: sdk, namespace: namespace}
}

// SDK returns the connection, for the worker.
func (c *Client) SDK() client.Client { return c.sdk }

// Close closes the connection.
func (c *Client) Close() { c.sdk.Close() }
