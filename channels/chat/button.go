package chat

// Action is the action of a button.
type Action string

// The actions of buttons. Each has a value: the approval's ID, the thread of the
// conversation to stop, or the turn whose reply is rated ([Message.Rate]).
const (
	ActionApprove Action = "approve"
	ActionDeny    Action = "deny"
	ActionStop    Action = "stop"
	ActionGood    Action = "good"
	ActionBad     Action = "bad"
)

// Button is a button below a message.
type Button struct {
	Action Action
	Value  string
	Label  string
}
