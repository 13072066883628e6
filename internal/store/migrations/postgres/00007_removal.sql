-- +goose Up
-- A prompt goes with the last turn that was given it.
CREATE INDEX turns_prompt ON turns (prompt) WHERE prompt <> '';
