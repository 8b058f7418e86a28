-- Partners that get the report of each finished month: see docs/internals/reports.md.
CREATE TABLE monthly_reports (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  -- The first day of the month whose report comes next, and when: both by the calendar of the partner.
  month date NOT NULL,
  due_at timestamptz NOT NULL
);
CREATE INDEX monthly_reports_due ON monthly_reports (due_at);
