package chat

// Options are the settings of a [Channel].
type Options struct {
	ReceiverOptions
	FileLimit int64 // bytes of an attached file
	Drafts    bool  // turns are shown as drafts while they run
}

// Channel is a chat platform with everything that the core adds to it: a
// [channels.Receiver], [channels.Enricher], [channels.RecipientResolver],
// [channels.Sender], [channels.Finder], [channels.Splitter], [channels.Presenter] and
// [channels.Questioner].
type Channel struct {
	*Receiver
	*Enricher
	*Resolver
	*Outbound

	platform Platform
	access   Access
}

// New returns the channel of a platform.
func New(p Platform, o Options) *Channel {
	return &Channel{
		Receiver: NewReceiver(p, o.ReceiverOptions),
		Enricher: NewEnricher(p, EnricherOptions{Access: o.Access, FileLimit: o.FileLimit, Respond: o.Respond, RespondIn: o.RespondIn}),
		Resolver: NewResolver(p, o.Access),
		Outbound: NewOutbound(p, OutboundOptions{Drafts: o.Drafts, Logger: o.Logger}),
		platform: p, access: o.Access,
	}
}
