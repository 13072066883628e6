package email

import "time"

// Parse parses a mail as the receiver does, and returns its text and how many files it has.
func Parse(raw []byte) (text string, files int) {
	m := parse(raw)
	p := &platform{o: Options{Address: "agent@example.org", AuthservID: "mx.example.org"}}
	p.ignored(m)
	p.postOf(&stored{mail: m})
	return m.text, len(m.files)
}

// SetGreylisting sets the pause after a temporary refusal.
func SetGreylisting(c *Channel, pause time.Duration) { c.greylisting = pause }
