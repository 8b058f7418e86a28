-- Before the next ones, since people are listed in this order.
ALTER TYPE member_role ADD VALUE 'accountant' BEFORE 'developer';
ALTER TYPE member_role ADD VALUE 'payer' BEFORE 'developer';

-- Chosen at sign-in: the session does not end with the day.
ALTER TABLE portal_sessions ADD COLUMN remembered boolean NOT NULL DEFAULT false;

-- Of payments by hand in the portal: the most for one, and for a day (UTC) and mode. Zero: nobody pays by hand.
ALTER TABLE partners ADD COLUMN by_hand_max_kopecks bigint NOT NULL DEFAULT 1500000;
ALTER TABLE partners ADD COLUMN by_hand_daily_kopecks bigint NOT NULL DEFAULT 5000000;
