-- Each process commits here once a second. The newest time is the last moment that is surely in this database.
CREATE TABLE process_beats (
    instance int PRIMARY KEY,
    at timestamptz NOT NULL,
    -- Whether commits waited for a standby then.
    synchronous boolean NOT NULL
) WITH (fillfactor = 50);
