-- What concerns the service as a whole.

CREATE TYPE mode AS ENUM ('live', 'test');

-- One row. The fingerprint tells whether a process holds the SECRET_KEY that this database was made with.
CREATE TABLE service (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  maintenance boolean NOT NULL DEFAULT false,
  secret_key_fingerprint text
);
INSERT INTO service DEFAULT VALUES;

-- By name or by the identifier of the bank side, folded to lower case: whichever matches is refused.
CREATE TABLE blocked_recipients (
  recipient text PRIMARY KEY,
  blocked_at timestamptz NOT NULL
);

-- For tables that are a record of what happened: rows are added, never changed, never removed.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: its rows are only ever added', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$;

-- Who changed what, when, from what to what.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  before jsonb,
  after jsonb
);
CREATE INDEX audit_by_subject ON audit (subject, id);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
  EXECUTE FUNCTION refuse_change();
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_is_append_only;
