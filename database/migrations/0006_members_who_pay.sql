-- Before the next ones, since people are listed in this order.
ALTER TYPE member_role ADD VALUE 'accountant' BEFORE 'developer';
ALTER TYPE member_role ADD VALUE 'payer' BEFORE 'developer';

-- Chosen at sign-in: the session does not end with the day.
ALTER TABLE portal_sessions ADD COLUMN remembered boolean NOT NULL DEFAULT false;
