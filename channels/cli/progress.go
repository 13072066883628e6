package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/holdfast-ai/holdfast/internal/event"
)

const (
	frameTime    = 100 * time.Millisecond
	defaultWidth = 80
	eraseLine    = "\r\x1b[K"
)

var frames = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// Progress is a line on a terminal that shows what is going on and for how long.
// A nil one shows nothing. Safe for concurrent use.
type Progress struct {
	w     io.Writer
	width func() int

	mu      sync.Mutex
	label   string
	started time.Time
	frame   int
	held    bool
	stop    chan struct{}
	stopped chan struct{}
}

// NewProgress returns a progress line on f; nil, which is of use too, if f is
// not a terminal.
func NewProgress(f io.Writer) *Progress {
	if !isTerminal(f) {
		return nil
	}
	return newProgress(f, func() int { return terminalWidth(f.(*os.File)) })
}

func newProgress(w io.Writer, width func() int) *Progress {
	p := &Progress{w: w, width: width, started: time.Now(), stop: make(chan struct{}), stopped: make(chan struct{})}
	go p.run()
	return p
}

func terminalWidth(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return defaultWidth
	}
	return width
}

func (p *Progress) run() {
	defer close(p.stopped)
	ticker := time.NewTicker(frameTime)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.draw()
		case <-p.stop:
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

// statusLine is the line of a given frame, shorter than the terminal is wide.
func statusLine(frame int, label string, d time.Duration, width int) string {
	line := fmt.Sprintf("%s %s %s", frames[frame%len(frames)], elapsed(d), label)
	return ansi.Truncate(line, width-1, "…")
}

// Show says what is going on.
func (p *Progress) Show(label string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label = oneLine(clean(label))
}

// On shows what an event tells.
func (p *Progress) On(e event.Event) {
	if label := eventLabel(e); label != "" {
		p.Show(label)
	}
}

// Hold removes the line until [Progress.Resume], so that something else can be
// written and typed in its place.
func (p *Progress) Hold() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.held {
		fmt.Fprint(p.w, eraseLine)
	}
	p.held = true
}

// Resume has the line drawn again.
func (p *Progress) Resume() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = false
}

// Stop removes the line. It may be called again.
func (p *Progress) Stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	select {
	case <-p.stop:
	default:
		close(p.stop)
	}
	p.mu.Unlock()
	<-p.stopped
}
