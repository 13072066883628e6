package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/approval"
)

// Approvals are the settings of tool call approvals.
type Approvals struct {
	Rules     []string      `yaml:"rules"`     // see [approval.Parse]; the first matching rule applies
	Timeout   time.Duration `yaml:"timeout"`   // how long a call waits for a decision
	Approvers []string      `yaml:"approvers"` // CHANNEL:SENDER; empty: the sender of the turn
}

// Policy returns the policy with these settings.
func (a Approvals) Policy() (approval.Policy, error) {
	rules := make([]approval.Rule, len(a.Rules))
	for i, text := range a.Rules {
		rule, err := approval.Parse(text)
		if err != nil {
			return approval.Policy{}, fmt.Errorf("approval rule %q: %w", text, err)
		}
		rules[i] = rule
	}
	return approval.New(rules, a.Timeout, a.Approvers)
}

func (k *checker) approvals(a Approvals) {
	for _, text := range a.Rules {
		_, err := approval.Parse(text)
		k.when(err != nil, "approvals.rules", "must be rules such as %q; %q: %v", "ask exec *git push*", text, err)
	}
	k.when(a.Timeout < time.Minute, "approvals.timeout", "must be at least 1m, not %s", a.Timeout)
	k.approvers("approvals.approvers", a.Approvers)
}

func (k *checker) approvers(path string, approvers []string) {
	for _, who := range approvers {
		channel, sender, _ := strings.Cut(who, ":")
		k.when(channel == "" || sender == "", path, "must be of the form slack:U012ABC, not %q", who)
	}
}
