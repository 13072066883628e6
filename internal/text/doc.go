// Package text shortens and cleans up text for payloads, logs and people.
package text
