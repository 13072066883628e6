package slack

// What the tests look at from outside the package.
var (
	Readable  = readable
	Mrkdwn    = mrkdwn
	BlockText = blockText
	Failure   = failure
)

// Call is a call of the Web API that counts for Slack's limits.
var (
	Call = (*Channel).call
	Try  = (*Channel).try
)
