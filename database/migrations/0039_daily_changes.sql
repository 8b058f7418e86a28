-- How many changes of a kind somebody has made today, to bound what people can make. One row per owner: the next day begins anew.
CREATE TABLE daily_changes (
  -- What is counted, and for whom, such as `keys prt_…`.
  owner text NOT NULL,
  -- The first moment of the day (UTC).
  day timestamptz NOT NULL,
  count int NOT NULL,
  CONSTRAINT daily_changes_pkey PRIMARY KEY (owner)
);
