package engine

import "go.temporal.io/server/common/headers"

// ServerVersion is the version of the embedded Temporal server.
const ServerVersion = headers.ServerVersion
