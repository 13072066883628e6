package slack

import "context"

// CheckConnection asks Slack for a Socket Mode connection without opening it. Its error is
// a remote.Error.
func (c *Channel) CheckConnection(ctx context.Context) error {
	return c.call(ctx, "apps.connections.open", "", func(ctx context.Context) error {
		_, _, err := c.api.StartSocketModeContext(ctx)
		return err
	})
}

// ErrorCode returns the error code in Slack's answer, such as token_revoked; empty if Slack
// did not answer.
func ErrorCode(err error) string { return code(err) }
