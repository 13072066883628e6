package store

import "fmt"

// fragments are the pieces of SQL in which the dialects differ.
type fragments struct {
	// forUpdate and forShare are the suffixes by which a SELECT keeps its row from being
	// changed: against all other transactions, and against writers only.
	forUpdate, forShare string
	skipLocked          string // like forUpdate, but skips rows that another transaction locked
	// serialize waits for other transactions that accept messages of a session; empty if
	// transactions are serialized anyway.
	serialize string
	// freezePrompts keeps other transactions from writing to that table; empty likewise.
	freezePrompts string
	recall        string // words, scope, turn to exclude, limit; see [Store.Recall]
	forget        string // removes a turn from the full-text index
}

var sqliteFragments = fragments{
	recall: fmt.Sprintf(recallQuery, `bm25(recall)`, `recall`, `recall MATCH 'content : (' || $1 || ')'`),
	forget: `DELETE FROM recall WHERE recall MATCH 'turn : "' || $1 || '"' AND turn = $1`,
}

var postgresFragments = fragments{
	forUpdate: " FOR UPDATE", forShare: " FOR SHARE", skipLocked: " FOR UPDATE SKIP LOCKED",
	serialize:     `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`,
	freezePrompts: `LOCK TABLE prompts IN SHARE ROW EXCLUSIVE MODE`,
	recall: fmt.Sprintf(recallQuery, `-ts_rank(recall.words, query)`, `websearch_to_tsquery('simple', $1) AS query CROSS JOIN recall`,
		`recall.words @@ query`),
	forget: `DELETE FROM recall WHERE turn = $1`,
}
