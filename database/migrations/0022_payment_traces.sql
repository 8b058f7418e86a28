-- The trace of a payment, where traces are exported: another process may poll it or send its event.
CREATE TABLE payment_traces (
  payment_id uuid NOT NULL PRIMARY KEY,
  traceparent text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX payment_traces_by_time ON payment_traces (at);
