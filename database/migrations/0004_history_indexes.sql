-- outside a transaction
-- The console lists the alarms of a year by kind, by subject and by period, newest first.
DROP INDEX CONCURRENTLY IF EXISTS alarms_by_kind;
CREATE INDEX CONCURRENTLY alarms_by_kind ON alarms (kind, id);
DROP INDEX CONCURRENTLY IF EXISTS alarms_by_subject;
CREATE INDEX CONCURRENTLY alarms_by_subject ON alarms (subject, id);
DROP INDEX CONCURRENTLY IF EXISTS alarms_by_time;
CREATE INDEX CONCURRENTLY alarms_by_time ON alarms (first_at);
-- The failed deliveries of an endpoint, which are resent all at once; there are few of them.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_failed_of_endpoint;
CREATE INDEX CONCURRENTLY deliveries_failed_of_endpoint ON deliveries (endpoint_id, event_id) WHERE failed_at IS NOT NULL;
