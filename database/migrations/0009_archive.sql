-- Closed months are moved from payments, events and entries to an archive with the same columns (`kopeck archive`). It has
-- a partition per month, so that a month can be moved to another tablespace, detached or dropped. The live tables are not
-- partitioned: their unique indexes are guards of money, and hold only within one partition.
--
-- Payments and events are in the month of the payment's id, entries in the month of their own time.
CREATE TABLE payments_archive (LIKE payments INCLUDING CONSTRAINTS) PARTITION BY RANGE (id);
ALTER TABLE payments_archive ADD CONSTRAINT payments_archive_pkey PRIMARY KEY (partner_id, mode, id);
CREATE INDEX payments_archive_by_amount ON payments_archive (amount_kopecks, id) WHERE NOT rejected;
CREATE INDEX payments_archive_by_external_id ON payments_archive (external_id, id, partner_id)
  WHERE external_id IS NOT NULL AND NOT rejected;
CREATE INDEX payments_archive_by_key ON payments_archive (idempotency_key, id) WHERE NOT rejected;
CREATE INDEX payments_archive_by_qr ON payments_archive (qrc_id, id) WHERE NOT rejected;
CREATE INDEX payments_archive_by_recipient ON payments_archive (lower(recipient) COLLATE "C", id) WHERE NOT rejected;
CREATE INDEX payments_archive_failed ON payments_archive (partner_id, mode, id)
  WHERE error_code IS NOT NULL AND NOT rejected;
CREATE INDEX payments_archive_newest ON payments_archive (mode, id) WHERE NOT rejected;

CREATE TABLE events_archive (LIKE events) PARTITION BY RANGE (payment_id);
ALTER TABLE events_archive ADD CONSTRAINT events_archive_pkey PRIMARY KEY (partner_id, mode, id, payment_id);
CREATE INDEX events_archive_by_payment ON events_archive (payment_id);

CREATE TABLE entries_archive (LIKE entries INCLUDING CONSTRAINTS) PARTITION BY RANGE (created_at);
ALTER TABLE entries_archive ADD CONSTRAINT entries_archive_pkey PRIMARY KEY (partner_id, mode, entry_no, created_at);
CREATE INDEX entries_archive_by_payment ON entries_archive (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX entries_archive_from_outside ON entries_archive (partner_id, mode, from_account, entry_no)
  WHERE payment_id IS NULL;
CREATE INDEX entries_archive_of_releases ON entries_archive (payment_id, partner_id, mode)
  WHERE from_account = 'held' AND to_account = 'available';

-- What must be known forever, even when a month has been dropped: nothing is paid and nothing is credited a second time.
CREATE TABLE archived_keys (
  idempotency_key text NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  CONSTRAINT archived_keys_pkey PRIMARY KEY (idempotency_key, partner_id, mode)
);
CREATE TABLE archived_references (
  reference text NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  micro_usdt bigint NOT NULL,
  CONSTRAINT archived_references_pkey PRIMARY KEY (reference, partner_id, mode)
);

-- dropped_at is set by hand when the payments and events of a month are detached or dropped.
CREATE TABLE archived_months (
  month date NOT NULL,
  dropped_at timestamptz,
  CONSTRAINT archived_months_pkey PRIMARY KEY (month)
);
-- What was moved: the number of rows and the sum of their digests, for `kopeck ledger verify`. A read of recent rows finds
-- here that it need not look into the archive: with 36 months that takes ten times as long.
CREATE TABLE archive_sums (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  month date NOT NULL,
  kind text NOT NULL,
  rows bigint NOT NULL,
  digest numeric NOT NULL,
  last_event_id bigint,
  CONSTRAINT archive_sums_pkey PRIMARY KEY (partner_id, mode, month, kind),
  CONSTRAINT archive_sums_kind_check CHECK (kind IN ('payments', 'events', 'entries'))
);

CREATE VIEW all_payments AS SELECT * FROM payments UNION ALL SELECT * FROM payments_archive;
CREATE VIEW all_events AS SELECT * FROM events UNION ALL SELECT * FROM events_archive;
CREATE VIEW all_entries AS SELECT * FROM entries UNION ALL SELECT * FROM entries_archive;

-- Payments to which nothing will happen any more: they have ended, their event was delivered, or given up and forgotten,
-- and the bot has sent the notice of their end.
CREATE VIEW archivable_payments AS
  SELECT p.* FROM payments p
   WHERE p.status <> 'processing'
     AND NOT EXISTS (SELECT FROM events e JOIN deliveries d ON d.partner_id = e.partner_id AND d.event_id = e.id
                      WHERE e.payment_id = p.id)
     AND NOT EXISTS (SELECT FROM long_payments l
                      WHERE l.partner_id = p.partner_id AND l.mode = p.mode AND l.payment_id = p.id);

-- A row leaves a live table only if the same row is in the archive.
CREATE FUNCTION refuse_unarchived() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'DELETE of % is refused', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER payments_leave_for_the_archive AFTER DELETE ON payments REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_unarchived();
CREATE TRIGGER payments_are_not_truncated BEFORE TRUNCATE ON payments
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
DROP TRIGGER events_are_append_only ON events;
CREATE TRIGGER events_are_append_only BEFORE UPDATE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_leave_for_the_archive AFTER DELETE ON events REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_unarchived();
DROP TRIGGER entries_are_append_only ON entries;
CREATE TRIGGER entries_are_append_only BEFORE UPDATE OR TRUNCATE ON entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_leave_for_the_archive AFTER DELETE ON entries REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_unarchived();
ALTER TABLE payments ENABLE ALWAYS TRIGGER payments_leave_for_the_archive;
ALTER TABLE events ENABLE ALWAYS TRIGGER events_are_append_only;
ALTER TABLE events ENABLE ALWAYS TRIGGER events_leave_for_the_archive;
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_are_append_only;
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_leave_for_the_archive;

-- Row by row, since only such a trigger is copied to every partition.
CREATE TRIGGER payments_archive_is_append_only BEFORE UPDATE OR DELETE ON payments_archive
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_archive_is_append_only BEFORE UPDATE OR DELETE ON events_archive
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_archive_is_append_only BEFORE UPDATE OR DELETE ON entries_archive
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER archived_keys_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON archived_keys
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER archived_references_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON archived_references
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE payments_archive ENABLE ALWAYS TRIGGER payments_archive_is_append_only;
ALTER TABLE events_archive ENABLE ALWAYS TRIGGER events_archive_is_append_only;
ALTER TABLE entries_archive ENABLE ALWAYS TRIGGER entries_archive_is_append_only;
ALTER TABLE archived_keys ENABLE ALWAYS TRIGGER archived_keys_are_append_only;
ALTER TABLE archived_references ENABLE ALWAYS TRIGGER archived_references_are_append_only;
