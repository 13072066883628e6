package slack

import "context"

// CheckConnection asks Slack for a connection of Socket Mode and opens none. Its
// error is a remote.Error.
func (c *Channel) CheckConnection(ctx context.Context) error {
	return c.call(ctx, "apps.connections.open", "", func(ctx context.Context) error {
		_, _, err := c.api.StartSocketModeContext(ctx)
		return err
	})
}

// ErrorCode is Slack's word for why a call failed, such as token_revoked; empty if it
// was not Slack that said so.
func ErrorCode(err error) string { return code(err) }
