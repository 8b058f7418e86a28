-- outside a transaction
-- each shard
ALTER TABLE entries VALIDATE CONSTRAINT entries_are_of_a_known_kind;
ALTER TABLE entries_archive VALIDATE CONSTRAINT entries_are_of_a_known_kind;
ALTER TABLE webhooks VALIDATE CONSTRAINT webhooks_ask_for_known_events;
