package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	frameTime    = 100 * time.Millisecond
	defaultWidth = 80
	eraseLine    = "\r\x1b[K"
)

var frames = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// Progress is a terminal line that shows what the agent is doing and for how long. A
// nil Progress shows nothing. Safe for concurrent use.
type Progress struct {
	w     io.Writer
	width func() int

	mu      sync.Mutex
	label   string
	started time.Time
	frame   int
	held    bool
	cancel  context.CancelFunc
	stopped chan struct{}
}

// NewProgress returns a progress line on f; nil if f is not a terminal.
func NewProgress(f io.Writer) *Progress {
	if !isTerminal(f) {
		return nil
	}
	return newProgress(f, func() int { return terminalWidth(f.(*os.File)) })
}

func newProgress(w io.Writer, width func() int) *Progress {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Progress{w: w, width: width, started: time.Now(), cancel: cancel, stopped: make(chan struct{})}
	go p.run(ctx)
	return p
}

func terminalWidth(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return defaultWidth
	}
	return width
}

func (p *Progress) run(ctx context.Context) {
	defer close(p.stopped)
	ticker := time.NewTicker(frameTime)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.draw()
		case <-ctx.Done():
			fmt.Fprint(p.w, eraseLine)
			return
		}
	}
}

func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		return
	}
	p.frame++
	fmt.Fprint(p.w, eraseLine+statusLine(p.frame, p.label, time.Since(p.started), p.width()))
}

// statusLine returns the line of a frame, cut to the width of the terminal.
func statusLine(frame int, label string, d time.Duration, width int) string {
	line := fmt.Sprintf("%s %s %s", frames[frame%len(frames)], elapsed(d), label)
	return ansi.Truncate(line, width-1, "…")
}

// elapsed formats a duration as 0:07 or 12:30.
func elapsed(d time.Duration) string {
	seconds := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// Show sets what the line says.
func (p *Progress) Show(label string) {
	p.locked(func() { p.label = text.Line(clean(label)) })
}

// On shows an event.
func (p *Progress) On(e event.Event) {
	if label := eventLabel(e); label != "" {
		p.Show(label)
	}
}

// Hold hides the line until [Progress.Resume] to make room for other text.
func (p *Progress) Hold() {
	p.locked(func() {
		if !p.held {
			fmt.Fprint(p.w, eraseLine)
		}
		p.held = true
	})
}

// Resume shows the line again after [Progress.Hold].
func (p *Progress) Resume() {
	p.locked(func() { p.held = false })
}

// Stop removes the line. Calling it again has no effect.
func (p *Progress) Stop() {
	if p != nil {
		p.cancel()
		<-p.stopped
	}
}

// locked calls f with the lock, unless p is nil.
func (p *Progress) locked(f func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}
