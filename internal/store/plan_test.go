package store_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// wholeTable matches a step that reads every row of a table.
	wholeTable = regexp.MustCompile(`^SCAN (sessions|s|inbox|earlier|turns|t|messages|intents|outbox|drafts|subagents|usage|calls|consolidations|jobs|approvals|unconsolidated|versions|prompts|recall|ratings)\b`)
	// bounded matches the indexes that hold only work that is not done, and those whose
	// readers stop after some rows.
	bounded = regexp.MustCompile(`VIRTUAL TABLE INDEX 0:M|USING (COVERING )?INDEX (inbox_unconsumed|inbox_due|turns_running|outbox_pending|outbox_behind|outbox_kept|outbox_undelivered|subagents_running|approvals_waiting|approvals_created|jobs_open|sessions_used)`)
)

// reports are statements that a person asks for and that are about everything.
var reports = []string{"WITH RECURSIVE", "FROM jobs ORDER BY"}

// requireIndexes checks that no statement that the store has run takes longer the more is
// stored.
func requireIndexes(t *testing.T, b *bundle) {
	t.Helper()
	plans, err := b.Plans(t.Context())
	require.NoError(t, err)
	for query, plan := range plans {
		for i, line := range plan {
			subquery := slices.Contains(plan, "CO-ROUTINE "+strings.TrimPrefix(line, "SCAN "))
			if i > 0 && wholeTable.MatchString(plan[i-1]) && strings.HasSuffix(line, "LAST TERM OF ORDER BY") {
				t.Errorf("%s\nsorts more rows than it returns:\n%s", query, strings.Join(plan, "\n"))
			}
			if wholeTable.MatchString(line) && !bounded.MatchString(line) && !subquery && !isReport(query) {
				t.Errorf("%s\nreads a whole table:\n%s", query, strings.Join(plan, "\n"))
			}
		}
	}
}

func isReport(query string) bool {
	for _, part := range reports {
		if strings.Contains(query, part) {
			return true
		}
	}
	return false
}
