package chat

// Action is the action of a button.
type Action string

// The actions of buttons. Each has a value: the approval's ID, or the thread of the
// conversation to stop.
const (
	ActionApprove Action = "approve"
	ActionDeny    Action = "deny"
	ActionStop    Action = "stop"
)

// Button is a button below a message.
type Button struct {
	Action Action
	Value  string
	Label  string
}
