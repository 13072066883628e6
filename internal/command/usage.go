package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func usageCommand(env environment) *cobra.Command {
	var (
		by, since, session string
		asJSON             bool
	)
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Show the tokens and cost of model calls",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(usageKeys(), by) {
				return fmt.Errorf("invalid --by %s: use one of %s", by, strings.Join(usageKeys(), ", "))
			}
			start, err := parseSince(since, time.Now())
			if err != nil {
				return err
			}
			query := store.UsageQuery{By: store.UsageKey(by), Since: start, Session: session, Zone: time.Local}
			return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
				var rows []store.UsageRow
				if stored != nil {
					if rows, err = stored.Usage(cmd.Context(), query); err != nil {
						return err
					}
				}
				report := newUsageReport(query, rows)
				if asJSON {
					return printJSON(cmd.OutOrStdout(), report)
				}
				return report.print(cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().StringVar(&by, "by", string(store.UsageByDay), "group by: "+strings.Join(usageKeys(), ", "))
	cmd.Flags().StringVar(&since, "since", "30d", "start: days including today (30d), hours (12h), a date (2026-11-21), or all")
	cmd.Flags().StringVar(&session, "session", "", "only this session and its subagents")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func usageKeys() []string {
	return []string{string(store.UsageByDay), string(store.UsageBySession), string(store.UsageByModel), string(store.UsageBySender)}
}

// parseSince parses --since. Days are whole local days.
func parseSince(text string, now time.Time) (time.Time, error) {
	midnight := func(days int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()-days, 0, 0, 0, 0, now.Location())
	}
	if text == "all" {
		return time.Time{}, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day, nil
	}
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		if days, err := strconv.Atoi(number); err == nil && days > 0 {
			return midnight(days - 1), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, errors.New("invalid --since " + text + ": use days (30d), hours (12h), a date (2026-11-21) or all")
}

// usageReport is the output of `usage`.
type usageReport struct {
	By    store.UsageKey `json:"by"`
	Since time.Time      `json:"since,omitzero"`
	Rows  []usageRow     `json:"rows"`
	Total usageRow       `json:"total"`
}

type usageRow struct {
	Key              string `json:"key,omitempty"`
	Calls            int    `json:"calls"`
	PromptTokens     int    `json:"prompt_tokens"`
	CachedTokens     int    `json:"cached_tokens"` // of the prompts
	CompletionTokens int    `json:"completion_tokens"`
	shownCost
}

func newUsageReport(q store.UsageQuery, rows []store.UsageRow) usageReport {
	report := usageReport{By: q.By, Since: q.Since, Rows: make([]usageRow, len(rows))}
	var total domain.Spent
	for i, row := range rows {
		report.Rows[i] = usageRowOf(row.Key, row.Spent)
		total.Add(row.Spent)
	}
	report.Total = usageRowOf("", total)
	return report
}

func usageRowOf(key string, s domain.Spent) usageRow {
	return usageRow{
		Key: key, Calls: s.Calls, PromptTokens: s.PromptTokens, CachedTokens: s.CachedTokens, CompletionTokens: s.CompletionTokens,
		shownCost: shownCost{s.Cost, s.Unpriced},
	}
}

func (r usageReport) print(w io.Writer) error {
	if len(r.Rows) == 0 {
		_, err := fmt.Fprintln(w, "no model calls in this period")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tCALLS\tPROMPT\tCACHED\tCOMPLETION\tCOST\n", strings.ToUpper(string(r.By)))
	for _, row := range r.Rows {
		row.print(table, cmp.Or(oneLine(row.Key, keyLimit), "-"))
	}
	r.Total.print(table, "total")
	if err := table.Flush(); err != nil {
		return err
	}
	if r.Total.Unpriced == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%d of %d calls (%.0f %%) have no known price; set `prices` in the config to price future calls\n",
		r.Total.Unpriced, r.Total.Calls, 100*float64(r.Total.Unpriced)/float64(r.Total.Calls))
	return err
}

func (r usageRow) print(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\n", name, r.Calls, r.PromptTokens, r.CachedTokens, r.CompletionTokens, r.shownCost)
}
