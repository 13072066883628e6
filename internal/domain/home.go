package domain

// Home is what the agent shows a person on a page of their own.
type Home struct {
	Approvals []Approval // those that the person may decide, oldest first
	Jobs      []HomeJob  // those that the person created
	Today     Totals     // of model calls for the person
	Month     Totals     // since the month began
}

// HomeJob is a job as people read it.
type HomeJob struct {
	Label string
	When  string // its schedule
	Next  string // when it is due; empty: never, or it is paused
}
