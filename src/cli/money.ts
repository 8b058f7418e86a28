import { formatMicroUsdt } from '../base/money.ts';
import { type Mode, openStatement, topUp, verifyLedger, writeStatement } from '../ledger/index.ts';
import { day, label, positiveUsdt } from './arguments.ts';
import { type Context, type DatabaseCommand, group } from './command.ts';
import { modeOption } from './key.ts';
import { lateLines, listing, noSuchPartner, refuse } from './output.ts';
import { find, findToChange } from './partner.ts';

export const balanceCommands = (command: DatabaseCommand) =>
  group('balance', 'credit balances', [
    command('credit <partner>', 'credit USDT to a balance; each reference is credited once', credit)
      .addOption(modeOption())
      .requiredOption('--usdt <amount>', 'amount in USDT', positiveUsdt)
      .requiredOption('--reference <reference>', 'unique reference, such as a transaction ID', label),
  ]);

export const ledgerCommands = (command: DatabaseCommand) =>
  group('ledger', 'verify the ledger and print statements', [
    command(
      'statement <partner>',
      "print a partner's daily statement (UTC): opening balance, entries, closing balance and digest",
      statement,
    )
      .addOption(modeOption())
      .requiredOption('--day <day>', 'UTC, such as 2026-11-15', day)
      .option('--csv', 'as CSV instead of JSON'),
    command('verify', 'recompute all balances from the entries; lists errors and exits with 1', verify),
  ]);

async function credit(
  context: Context,
  partner: string,
  { mode, usdt, reference }: { mode: Mode; usdt: bigint; reference: string },
) {
  const { partnerId, name } = await findToChange(context, partner);
  const verdict = await topUp(context.audit, { partnerId, mode, reference, microUsdt: usdt });
  if (verdict.outcome === 'no_account') throw noSuchPartner(partner);
  if (verdict.outcome === 'conflict')
    refuse(
      'reference_conflict',
      `The reference "${reference}" was already used for a different amount: use a new reference.`,
    );
  const [credited, balance] = [formatMicroUsdt(usdt), formatMicroUsdt(verdict.balanceMicroUsdt)];
  const isRepeat = verdict.outcome === 'already_credited';
  const done = isRepeat ? 'Already credited' : 'Credited';
  return {
    json: {
      ...{ partner_id: partnerId, mode, reference, credited_usdt: credited },
      ...{ already_credited: isRepeat, balance_usdt: balance },
    },
    text: `${done} ${credited} USDT to ${name} (${partnerId}) for "${reference}". Balance (${mode}): ${balance} USDT.`,
  };
}

async function verify({ audit, progress }: Context) {
  const show = lateLines(progress);
  const { findings, entries, invariants } = await verifyLedger(audit.pool, {
    onProgress: invariant => show(`Checking that ${invariant} …`),
  });
  const ok = findings.length === 0;
  const rows = findings.map(({ invariant, partnerId, ...rest }) => {
    return { invariant, partner_id: partnerId, ...rest };
  });
  const shown = listing({ ok, entries: Number(entries), invariants, findings: rows }, 'findings', {
    'broken invariant': 'invariant',
    partner: 'partner_id',
    mode: 'mode',
    detail: 'detail',
  });
  const consistent = `The ledger is consistent: ${entries} entries, ${invariants.length} invariants hold.`;
  return { ...shown, ...(ok ? { text: consistent } : {}), isBad: !ok };
}

/** The statement is a file with a digest, byte for byte the same as over HTTP, so --json does not change it. */
async function statement(
  context: Context,
  partner: string,
  { mode, day: start, csv = false }: { mode: Mode; day: Date; csv?: boolean },
) {
  const { partnerId } = await find(context, partner);
  const { pool, clock } = context.audit;
  const opened = await openStatement(pool, clock, { partnerId, mode }, start);
  if (!opened) refuse('not_begun', 'That day has not started yet.');
  if (opened === 'pruned') refuse('pruned', 'The test data of that day was deleted (TEST_DATA_DAYS).');
  let text = '';
  for await (const piece of writeStatement(pool, opened, csv ? 'csv' : 'json')) text += piece;
  return { json: undefined, text: text.trimEnd() };
}
