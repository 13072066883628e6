// Package approval decides which tool calls need a person's approval, and who may
// give it.
package approval

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Verdict is the decision about a tool call.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// Destructive is the tool of a rule that matches all MCP tools that are destructive
// according to their servers.
const Destructive = "destructive"

// Call is a tool call as rules see it.
type Call struct {
	Tool        string
	Each        []string // what the call is about: an allow rule must match all of these
	Also        []string // texts that an ask or deny rule may match instead
	Destructive bool     // see [Destructive]
}

// Rule assigns a verdict to calls.
type Rule struct {
	// Tool is a tool's name, a prefix of names up to an underscore ("mcp_github" for
	// all tools of that server), "*" for every tool, or [Destructive]. To ask about or
	// deny write_file includes the other tools that change files.
	Tool string
	// Match is a pattern for the whole of what the call is about: the command, the path,
	// the URL, or the arguments. "*" matches anything; in an allow rule it does not match
	// characters that chain commands. Empty matches every call.
	Match string
	Do    Verdict
}

// Parse parses a rule such as "ask exec *git push*": verdict, tool, and an optional
// pattern.
func Parse(text string) (Rule, error) {
	do, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	tool, match, _ := strings.Cut(strings.TrimSpace(rest), " ")
	r := Rule{Tool: tool, Match: strings.TrimSpace(match), Do: Verdict(do)}
	_, err := r.compile()
	return r, err
}

// Policy is a list of rules and approvers. Its zero value allows everything.
type Policy struct {
	rules     []rule
	timeout   time.Duration
	approvers []string
}

type rule struct {
	tool  string
	match *regexp.Regexp // nil matches everything
	do    Verdict
}

// New returns a policy in which the first matching rule decides; calls without a
// matching rule are allowed. Approvals expire after timeout. Approvers are
// CHANNEL:SENDER; without any, the sender who started the turn decides.
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
	// A star matches anything, or in an allow rule oneCommand, which excludes
	// appending another command or hiding one in an argument.
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
		return rule{}, fmt.Errorf("unknown verdict %q; use allow, ask or deny", r.Do)
	}
	if r.Tool == "" {
		return rule{}, errors.New("the tool is missing")
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

// matches reports whether the rule decides about one of the texts of a call.
func (r rule) matches(c Call, text string) bool {
	if !r.covers(c.Tool) && (r.tool != Destructive || !c.Destructive) && !r.restrictsWriting(c.Tool) {
		return false
	}
	return r.fits(text) || r.do != Allow && slices.ContainsFunc(c.Also, r.fits)
}

// restrictsWriting reports whether the tool is another way to do what the rule is about: the
// model would only have to take it.
func (r rule) restrictsWriting(tool string) bool {
	return r.tool == "write_file" && r.do != Allow && (tool == "edit_file" || tool == "apply_patch")
}

func (r rule) fits(text string) bool {
	return r.match == nil || r.match.MatchString(strings.TrimSpace(text))
}

// covers reports whether the rule is about a tool, by its name.
func (r rule) covers(tool string) bool {
	return r.tool == "*" || r.tool == tool || strings.HasPrefix(tool, r.tool+"_")
}

// Unmatched returns the tools of rules that are about none of the named ones, such as
// misspelled names. Rules about MCP tools are left out: their servers may be down.
func (p Policy) Unmatched(names []string) []string {
	var unmatched []string
	for _, r := range p.rules {
		if r.tool != Destructive && !strings.HasPrefix(r.tool+"_", "mcp_") && !slices.ContainsFunc(names, r.covers) {
			unmatched = append(unmatched, r.tool)
		}
	}
	return unmatched
}

// Verdict returns the decision about a call: the strictest of those about its texts.
func (p Policy) Verdict(c Call) Verdict {
	if len(c.Each) == 0 {
		return p.verdict(c, "")
	}
	strictest := Allow
	for _, text := range c.Each {
		switch p.verdict(c, text) {
		case Deny:
			return Deny
		case Ask:
			strictest = Ask
		case Allow:
		}
	}
	return strictest
}

func (p Policy) verdict(c Call, text string) Verdict {
	for _, r := range p.rules {
		if r.matches(c, text) {
			return r.do
		}
	}
	return Allow
}

// Timeout returns how long an approval may take.
func (p Policy) Timeout() time.Duration { return p.timeout }

// May reports whether a sender may decide an approval for a turn started by asker on
// the channel askerOn.
func (p Policy) May(channel, sender, askerOn, asker string) bool {
	if len(p.approvers) > 0 {
		return slices.Contains(p.approvers, channel+":"+sender)
	}
	return sender != "" && channel == askerOn && sender == asker
}

// WithApprovers returns the policy with other approvers; with the same ones if there are none.
func (p Policy) WithApprovers(approvers []string) Policy {
	if len(approvers) > 0 {
		p.approvers = approvers
	}
	return p
}

// Approvers returns who may decide, as CHANNEL:SENDER; empty if it is the sender who
// started the turn.
func (p Policy) Approvers() []string { return p.approvers }
