-- Partners and their people in the chat bot, and what they are told.

-- Who signed up in the bot may try everything at once, and pays with live money once an operator has approved it.
ALTER TABLE partners
  ADD COLUMN live_approved boolean NOT NULL DEFAULT true,
  ADD COLUMN approval_asked_at timestamptz;

-- Somebody who has spoken to the bot. Telegram's id is all there is to their identity.
CREATE TABLE chat_users (
  user_id bigint PRIMARY KEY,
  language text NOT NULL CHECK (language IN ('ru', 'en')),
  -- Topics of notices that they do not want.
  muted text[] NOT NULL DEFAULT '{}',
  -- They have blocked the bot: nothing is sent until they speak to it again.
  blocked_at timestamptz,
  -- The question or confirmation that waits for them; in the database, so that a restart does not end a conversation.
  dialogue jsonb,
  -- Whose menus they look at.
  partner_id uuid REFERENCES partners,
  created_at timestamptz NOT NULL
);

CREATE TYPE member_role AS ENUM ('viewer', 'developer', 'owner');

CREATE TABLE members (
  partner_id uuid NOT NULL REFERENCES partners,
  user_id bigint NOT NULL,
  role member_role NOT NULL,
  -- As Telegram showed it when they joined, for people to know each other by.
  name text NOT NULL,
  joined_at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, user_id)
);
CREATE INDEX members_by_user ON members (user_id);

-- A link that lets one person in. Only a hash of its token is kept.
CREATE TABLE invitations (
  hash bytea PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  role member_role NOT NULL,
  -- Null: an operator.
  made_by bigint,
  expires_at timestamptz NOT NULL,
  used_by bigint,
  used_at timestamptz
);

-- What the bot has to do by itself, when its time has come: at least once, whichever process does it.
CREATE TABLE chat_jobs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null: the chat of the staff, wherever that is.
  chat_id bigint,
  task jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  tries int NOT NULL DEFAULT 0
);
CREATE INDEX chat_jobs_due ON chat_jobs (due_at, id);

-- Null: everybody.
ALTER TABLE partner_notices ALTER COLUMN partner_id DROP NOT NULL;
-- How lately a partner was told of a kind decides whether the next is told at once or together with others.
CREATE INDEX partner_notices_told ON partner_notices (told_at) WHERE told_at IS NOT NULL;

CREATE INDEX partner_notices_by_time ON partner_notices USING brin (at);

-- What the bot watches for a partner. A warning is given once, until the balance has been above its mark again.
CREATE TABLE balance_marks (
  partner_id uuid PRIMARY KEY REFERENCES partners,
  low_micro_usdt bigint NOT NULL CHECK (low_micro_usdt > 0),
  low_since timestamptz
);

-- Payments that partners were told are taking long; gone when they have been told of the end.
CREATE TABLE long_payments (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  PRIMARY KEY (partner_id, mode, payment_id)
);

ALTER TABLE service ADD COLUMN rate_told_stale boolean NOT NULL DEFAULT false;

-- The staff chat hears of every alarm once; those of before there was one are no news.
ALTER TABLE alarms ADD COLUMN told_at timestamptz;
UPDATE alarms SET told_at = last_at;
CREATE INDEX alarms_untold ON alarms (id) WHERE told_at IS NULL;

-- Partners look for a payment by their own name for it.
CREATE INDEX payments_by_external_id ON payments (external_id, partner_id) WHERE external_id IS NOT NULL;
