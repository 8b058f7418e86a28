-- Rows of a log leave with their partition (src/db/retention/partitions.ts). A row address (ctid), by which plain tables are pruned, is
-- not unique across partitions: a DELETE by it on the whole table would take young rows too.
-- Triggers: gateway_calls, partner_notices, webhook_attempts.
CREATE OR REPLACE FUNCTION refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'DELETE of % is refused: its rows leave with their partition', TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
