-- Kept also if no secret key of the process opens it: it may be of a key that is added later.
COMMENT ON COLUMN stray_orders.reference IS 'The payment is rebuilt from it as soon as that is possible';
