-- In which days and times a partner's people read the portal and its reports: an IANA name. The API and the ledger stay in UTC.
ALTER TABLE partners ADD COLUMN time_zone text NOT NULL DEFAULT 'Europe/Moscow';
