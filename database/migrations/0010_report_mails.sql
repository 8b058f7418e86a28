-- E-mail addresses that get the report of a finished month.
CREATE TABLE report_addresses (
  partner_id uuid NOT NULL REFERENCES partners (id),
  address text NOT NULL,
  language text NOT NULL CHECK (language IN ('ru', 'en')),
  -- It was sent to the address; who reads it there gives it to the owner. Null: confirmed.
  code text,
  code_expires_at timestamptz NOT NULL,
  wrong_codes int NOT NULL DEFAULT 0,
  PRIMARY KEY (partner_id, address)
);
-- The outbox of mails: due again after a failure, or when the lease of a process that died runs out.
CREATE TABLE report_mails (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL,
  address text NOT NULL,
  -- Null: the mail with the code.
  month date,
  due_at timestamptz NOT NULL,
  tries int NOT NULL DEFAULT 0,
  FOREIGN KEY (partner_id, address) REFERENCES report_addresses ON DELETE CASCADE
);
CREATE INDEX report_mails_due ON report_mails (due_at);
CREATE UNIQUE INDEX report_mails_once ON report_mails (partner_id, address, month);
