package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"time"
)

// Pairing is a sender's request to be admitted.
type Pairing struct {
	Channel    string
	Sender     string
	Name       string
	Code       string
	CreatedAt  time.Time
	ApprovedAt time.Time // zero: not let in
}

// pairingAge is how long a code can be approved.
const pairingAge = time.Hour

const pairingColumns = `channel, sender, name, code, created_at, approved_at`

func scanPairing(rows *sql.Rows) (p Pairing, err error) {
	return p, rows.Scan(&p.Channel, &p.Sender, &p.Name, &p.Code, stamp{&p.CreatedAt}, stamp{&p.ApprovedAt})
}

// Pair stores a sender's request with a new code and returns the stored one: the
// earlier code while it is still valid.
func (s *Store) Pair(ctx context.Context, p Pairing) (Pairing, error) {
	return writing(ctx, s, "pair "+p.Sender, syncCommit, func(tx *runner) (Pairing, error) {
		return required(ctx, tx, scanPairing, `INSERT INTO pairings (`+pairingColumns+`) VALUES ($1, $2, $3, $4, $5, 0)
			ON CONFLICT (channel, sender) DO UPDATE SET name = excluded.name,
				code = CASE WHEN pairings.approved_at = 0 AND pairings.created_at < $6 THEN excluded.code ELSE pairings.code END,
				created_at = CASE WHEN pairings.approved_at = 0 AND pairings.created_at < $6 THEN excluded.created_at ELSE pairings.created_at END
			RETURNING `+pairingColumns, p.Channel, p.Sender, p.Name, p.Code, now(), now().Add(-pairingAge))
	})
}

// ApprovePairing admits the sender with that code. ErrNotFound if the code is unknown
// or older than an hour. Approving again has no effect.
func (s *Store) ApprovePairing(ctx context.Context, code string) (Pairing, error) {
	return writing(ctx, s, "approve pairing", syncCommit, func(tx *runner) (Pairing, error) {
		return required(ctx, tx, scanPairing, `UPDATE pairings
			SET approved_at = CASE WHEN approved_at = 0 THEN $2 ELSE approved_at END
			WHERE code = $1 AND (approved_at > 0 OR created_at >= $3) RETURNING `+pairingColumns, code, now(), now().Add(-pairingAge))
	})
}

// Paired reports whether a sender was admitted.
func (s *Store) Paired(ctx context.Context, channel, sender string) (paired bool, err error) {
	_, paired, err = find(ctx, s, "look for a pairing", scanCount, `SELECT 1 FROM pairings WHERE channel = $1 AND sender = $2 AND approved_at > 0`, channel, sender)
	return paired, err
}

// Pairings returns the admitted senders and the valid requests, newest first.
func (s *Store) Pairings(ctx context.Context) ([]Pairing, error) {
	return list(ctx, s, "read pairings", scanPairing, `SELECT `+pairingColumns+` FROM pairings
		WHERE approved_at > 0 OR created_at >= $1 ORDER BY created_at DESC`, now().Add(-pairingAge))
}

// DropPairing revokes a pairing. ErrNotFound if it does not exist.
func (s *Store) DropPairing(ctx context.Context, channel, sender string) error {
	return s.change(ctx, "drop pairing", `DELETE FROM pairings WHERE channel = $1 AND sender = $2`, channel, sender)
}

// Admit admits a sender without a code of theirs. Admitting again has no effect.
func (s *Store) Admit(ctx context.Context, channel, sender, name string) error {
	_, err := s.exec(ctx, "admit "+sender, syncCommit, `INSERT INTO pairings (`+pairingColumns+`) VALUES ($1, $2, $3, $4, $5, $5)
		ON CONFLICT (channel, sender) DO UPDATE SET approved_at = CASE WHEN pairings.approved_at = 0 THEN excluded.approved_at ELSE pairings.approved_at END`,
		channel, sender, name, rand.Text(), now())
	return err
}
