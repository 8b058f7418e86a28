-- Until when the bodies of a partner's API requests are kept in the log: its owner asks for it, for a week at most. Null: never asked.
ALTER TABLE partners ADD COLUMN bodies_logged_until timestamptz;

-- Those bodies, without keys and names of recipients. They are apart from api_requests since they go after seven days, whatever
-- REQUEST_LOG_DAYS is, and so that the log of everybody else costs what it did.
CREATE TABLE api_request_bodies (
  request_id uuid NOT NULL,
  at timestamptz NOT NULL,
  partner_id uuid NOT NULL,
  -- Null: it had none, or none that is text.
  request_body text,
  response_body text
) PARTITION BY RANGE (at);
CREATE TABLE api_request_bodies_default PARTITION OF api_request_bodies DEFAULT;
CREATE INDEX api_request_bodies_by_id ON api_request_bodies (request_id);
