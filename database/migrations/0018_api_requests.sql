-- Requests to the partner API and how they were answered, so that support can look up a request_id. Kept for REQUEST_LOG_DAYS, with a
-- partition per day (src/db/partitions.ts). No body, header or query string. Written in the background: rows may be missing.
CREATE TABLE api_requests (
  request_id uuid NOT NULL,
  -- When it arrived: the time in its id.
  at timestamptz NOT NULL,
  -- Null: it carried no valid key.
  partner_id uuid,
  mode mode,
  key_id text,
  -- Null: it was not valid HTTP.
  method text,
  -- The pattern of the route, such as /v1/payments/:payment_id; of an unknown route what is surely no personal data.
  path text,
  payment_id uuid,
  status smallint NOT NULL,
  error_code text,
  duration_ms int NOT NULL
) PARTITION BY RANGE (at);
CREATE TABLE api_requests_default PARTITION OF api_requests DEFAULT;

-- Ids are in the order of time. So each index finds a page of the newest rows without sorting, and grows at the end of its ranges.
-- There is no primary key: a unique index would be checked for each row, and nothing refers to these rows.
CREATE INDEX api_requests_by_id ON api_requests (request_id);
CREATE INDEX api_requests_by_partner ON api_requests (partner_id, request_id) WHERE partner_id IS NOT NULL;
CREATE INDEX api_requests_by_path ON api_requests (path, request_id);
CREATE INDEX api_requests_by_payment ON api_requests (payment_id, request_id) WHERE payment_id IS NOT NULL;
CREATE INDEX api_requests_by_error ON api_requests (error_code, request_id) WHERE error_code IS NOT NULL;
CREATE INDEX api_requests_by_failure ON api_requests ((status / 100), request_id) WHERE status >= 400;
