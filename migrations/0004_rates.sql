-- What a USDT was worth and why, kept for ever: a payment names the row whose rate it got.

CREATE TABLE rates (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  as_of timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  mid_e4 bigint NOT NULL CHECK (mid_e4 > 0),
  spread_bps int NOT NULL CHECK (spread_bps BETWEEN 0 AND 5000),
  rate_e4 bigint NOT NULL CHECK (rate_e4 > 0),
  parts jsonb NOT NULL,
  CONSTRAINT rates_are_the_mid_less_the_spread CHECK (rate_e4 = mid_e4 * (10000 - spread_bps) / 10000)
);
COMMENT ON COLUMN rates.as_of IS 'the age of the oldest quote in it';
COMMENT ON COLUMN rates.rate_e4 IS 'RUB for 1 USDT that a partner gets, times 10^4';
COMMENT ON COLUMN rates.parts IS 'what every source said, or why it was not used';

CREATE TRIGGER rates_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rates
  EXECUTE FUNCTION refuse_change();

-- One row: when some process last set out to refresh the rate. It holds the past moment and not the next one, so
-- that a shorter RATE_REFRESH_SEC counts from the next start and not from the end of the longer period.
CREATE TABLE rate_refresh (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  claimed_at timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO rate_refresh DEFAULT VALUES;
