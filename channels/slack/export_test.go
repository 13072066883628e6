package slack

// What the tests of the package look at from outside.
var (
	Readable  = readable
	Mrkdwn    = mrkdwn
	BlockText = blockText
	Failure   = failure
)
