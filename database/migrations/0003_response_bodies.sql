-- The beginning of what an endpoint answered to an attempt that it did not accept; at most 4 KiB are read of it.
ALTER TABLE webhook_attempts ADD COLUMN response_body text;
