-- To find those that were cleared long ago: they are deleted after a year.
CREATE INDEX alarms_cleared ON alarms (cleared_at) WHERE cleared_at IS NOT NULL;
