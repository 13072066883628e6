// Package approval decides which tool calls a person is asked about before they
// are run, and who may answer.
package approval

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Verdict is what is to be done with a tool call.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// Destructive stands, in a rule, for all tools of MCP servers that may destroy
// something, by what their servers say.
const Destructive = "destructive"

// Call is a tool call, as far as rules go by it.
type Call struct {
	Tool        string
	Title       string // what a person is shown of it
	Destructive bool   // see [Destructive]
}

// Rule says what is to be done with some calls.
type Rule struct {
	// Tool is a tool's name, the beginning of names up to an underscore ("mcp_github"
	// is all tools of that server), "*" for every tool, or [Destructive].
	Tool string
	// Match fits the whole of what a person is shown of the call: the command, the
	// path, the URL, or else the arguments. "*" stands for anything, but in a rule that
	// allows not for what chains commands. Empty fits every call.
	Match string
	Do    Verdict
}

// Parse reads a rule as "ask exec *git push*": what to do, the tool, and what else
// there is to match.
func Parse(text string) (Rule, error) {
	do, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	tool, match, _ := strings.Cut(strings.TrimSpace(rest), " ")
	r := Rule{Tool: tool, Match: strings.TrimSpace(match), Do: Verdict(do)}
	_, err := r.compile()
	return r, err
}

// Policy is what a team wants to be asked. Its zero value allows everything.
type Policy struct {
	rules     []rule
	timeout   time.Duration
	approvers []string
}

type rule struct {
	tool  string
	match *regexp.Regexp // nil fits everything
	do    Verdict
}

// New returns the policy of these rules, of which the first that fits a call
// decides; a call that none fits is allowed. A question waits for as long as
// timeout. Approvers are those who may answer, as CHANNEL:SENDER; if there are
// none, who asked for the turn may.
func New(rules []Rule, timeout time.Duration, approvers []string) (Policy, error) {
	p := Policy{timeout: timeout, approvers: approvers}
	for i, r := range rules {
		compiled, err := r.compile()
		if err != nil {
			return Policy{}, fmt.Errorf("approval rule %d: %w", i+1, err)
		}
		p.rules = append(p.rules, compiled)
	}
	return p, nil
}

const (
	// anything is what a star stands for, oneCommand what it does where a rule
	// allows: no way to append another command, or to hide one in an argument.
	anything   = `(?s:.*)`
	oneCommand = "[^;&|<>`$()\\n\\r]*"
)

func (r Rule) compile() (rule, error) {
	compiled := rule{tool: r.Tool, do: r.Do}
	star := anything
	switch r.Do {
	case Allow:
		star = oneCommand
	case Ask, Deny:
	default:
		return rule{}, fmt.Errorf("it begins with %q, which is none of allow, ask and deny", r.Do)
	}
	if r.Tool == "" {
		return rule{}, errors.New("it names no tool")
	}
	if r.Match == "" {
		return compiled, nil
	}
	parts := strings.Split(r.Match, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	var err error
	compiled.match, err = regexp.Compile("^" + strings.Join(parts, star) + "$")
	return compiled, err
}

func (r rule) fits(c Call) bool {
	named := r.tool == "*" || r.tool == c.Tool || strings.HasPrefix(c.Tool, r.tool+"_") || r.tool == Destructive && c.Destructive
	return named && (r.match == nil || r.match.MatchString(strings.TrimSpace(c.Title)))
}

// Verdict decides about a call.
func (p Policy) Verdict(c Call) Verdict {
	for _, r := range p.rules {
		if r.fits(c) {
			return r.do
		}
	}
	return Allow
}

// Timeout is how long a question waits for its answer.
func (p Policy) Timeout() time.Duration { return p.timeout }

// May reports whether a sender may answer a question about a turn that asker, on
// the channel askerOn, asked for.
func (p Policy) May(channel, sender, askerOn, asker string) bool {
	if len(p.approvers) > 0 {
		return slices.Contains(p.approvers, channel+":"+sender)
	}
	return sender != "" && channel == askerOn && sender == asker
}

// Approvers are those who may answer, as CHANNEL:SENDER; none if it is who asked.
func (p Policy) Approvers() []string { return p.approvers }
