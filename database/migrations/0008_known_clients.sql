-- Browsers and addresses from which an operator has signed in: their attempts have an allowance of their own.
CREATE TABLE known_clients (
  operator_id uuid NOT NULL REFERENCES operators,
  kind text NOT NULL CHECK (kind IN ('device', 'address')),
  -- Hash of the token in the device cookie, or the address (for IPv6 its /64 network).
  value text NOT NULL,
  last_sign_in_at timestamptz NOT NULL,
  PRIMARY KEY (operator_id, kind, value)
);

-- Set if the attempt counts only against the allowance of this device.
ALTER TABLE login_attempts ADD COLUMN device_hash text;
CREATE INDEX login_attempts_by_device ON login_attempts (device_hash, at) WHERE device_hash IS NOT NULL;
