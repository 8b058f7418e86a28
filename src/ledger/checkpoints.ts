/**
 * Old entries of test accounts are pruned; the checkpoint of an account has the balances after the last of them
 * (database/functions/prune_test_data.sql). These pieces of SQL are what verification reads instead of the entries alone.
 */

export const checkpoints = `
  (SELECT partner_id, 'test'::mode AS mode, entry_no, at, topup, treasury, available, held, settled FROM test_checkpoints)`;

/** Without the holds that were open at the checkpoint: they stay, and its balances contain them. */
export const entriesAfterCheckpoints = `
  (SELECT e.* FROM all_entries e LEFT JOIN ${checkpoints} AS c USING (partner_id, mode)
    WHERE e.entry_no > coalesce(c.entry_no, 0))`;

/** The balances of a checkpoint, in the form of the legs of an entry. */
export const checkpointLegs = `
  SELECT partner_id, mode, entry_no, account, total AS change, total AS after
    FROM ${checkpoints} AS c, LATERAL (VALUES ('topup'::account, topup), ('treasury', treasury), ('available', available),
         ('held', held), ('settled', settled)) AS v (account, total)`;

export const checkpointInvariants: Record<string, string> = {
  'up to a checkpoint only its open holds are left': `
    SELECT e.partner_id, e.mode, format('entry %s', e.entry_no) AS detail
      FROM all_entries e JOIN ${checkpoints} AS c USING (partner_id, mode)
     WHERE e.entry_no <= c.entry_no AND (e.from_account <> 'available' OR EXISTS (
           SELECT FROM all_entries n WHERE n.partner_id = e.partner_id AND n.mode = e.mode AND n.payment_id = e.payment_id
              AND n.from_account = 'held' AND n.entry_no <= c.entry_no))
    UNION ALL
    SELECT c.partner_id, c.mode, format('held is %s, open holds are %s', c.held, coalesce(sum(e.micro_usdt), 0))
      FROM ${checkpoints} AS c LEFT JOIN all_entries e ON e.partner_id = c.partner_id AND e.mode = c.mode
           AND e.entry_no <= c.entry_no AND e.from_account = 'available'
     GROUP BY c.partner_id, c.mode, c.held HAVING c.held <> coalesce(sum(e.micro_usdt), 0)
    UNION ALL
    SELECT p.partner_id, p.mode, format('payment %s is left without its entries', p.id)
      FROM all_payments p JOIN ${checkpoints} AS c USING (partner_id, mode)
     WHERE NOT EXISTS (SELECT FROM all_entries e WHERE e.partner_id = p.partner_id AND e.mode = p.mode
                          AND e.payment_id = p.id AND e.from_account = 'available')`,
};
