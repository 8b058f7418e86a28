-- What operators keep about a partner for each other: whom to call, and what was agreed. Partners do not see it.
CREATE TABLE partner_contacts (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  contacts text NOT NULL,
  notes text NOT NULL,
  -- Counts the changes: one that is based on an older version is refused.
  version int NOT NULL
);
