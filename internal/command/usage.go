package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func usageCommand(env environment) *cobra.Command {
	var (
		by, since, session string
		asJSON             *bool
	)
	cmd := newCommand("usage", "Show the tokens and cost of model calls", func(cmd *cobra.Command, _ []string) error {
		if !slices.Contains(usageKeys(), by) {
			return fmt.Errorf("invalid --by %s: use one of %s", by, strings.Join(usageKeys(), ", "))
		}
		start, err := parseSince(since, time.Now())
		if err != nil {
			return err
		}
		query := store.UsageQuery{By: store.UsageKey(by), Since: start, Session: session, Zone: time.Local}
		return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
			rows, err := stored.Usage(cmd.Context(), query)
			if err != nil {
				return err
			}
			report := newUsageReport(query, rows)
			if *asJSON {
				return printJSON(cmd.OutOrStdout(), report)
			}
			return report.print(cmd.OutOrStdout())
		})
	})
	cmd.Flags().StringVar(&by, "by", string(store.UsageByDay), "group by: "+strings.Join(usageKeys(), ", "))
	cmd.Flags().StringVar(&since, "since", "30d", "start: days including today (30d), hours (12h), a date (2026-11-21), or all")
	cmd.Flags().StringVar(&session, "session", "", "only this session and its subagents")
	asJSON = jsonFlag(cmd)
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
	By    store.UsageKey   `json:"by"`
	Since time.Time        `json:"since,omitzero"`
	Rows  []store.UsageRow `json:"rows"`
	Total domain.Totals    `json:"total"`
}

func newUsageReport(q store.UsageQuery, rows []store.UsageRow) usageReport {
	report := usageReport{By: q.By, Since: q.Since, Rows: append([]store.UsageRow{}, rows...)} // not null
	for _, row := range rows {
		report.Total.Add(row.Totals)
	}
	return report
}

func (r usageReport) print(w io.Writer) error {
	rows := r.Rows
	if len(rows) > 0 {
		rows = append(rows, store.UsageRow{Key: "total", Totals: r.Total})
	}
	err := printList(w, false, rows, "no model calls in this period",
		strings.ToUpper(string(r.By))+"\tCALLS\tPROMPT\tCACHED\tCOMPLETION\tCOST", usageCells)
	if err != nil || r.Total.Unpriced == 0 {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%d of %d calls (%.0f %%) have no known price; set `prices` in the config to price future calls\n",
		r.Total.Unpriced, r.Total.Calls, 100*float64(r.Total.Unpriced)/float64(r.Total.Calls))
	return err
}

func usageCells(r store.UsageRow) []any {
	return []any{
		cmp.Or(oneLine(r.Key, keyLimit), "-"), r.Calls, r.PromptTokens, r.CachedTokens, r.CompletionTokens, domain.Dollars(r.Cost, r.Unpriced),
	}
}
