import { createAlarms } from '../alarms/index.ts';
import { type DepositDifference, type DepositDifferenceKind, reconcileDeposits } from '../deposits/index.ts';
import { day } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { openConfiguredChain } from './deposit-chains.ts';
import { type Output, table } from './output.ts';

export const reconcileDepositsCommand = (withDatabase: WithDatabase) =>
  command(
    'reconcile',
    "compare a day's deposits with the chain and the ledger; raises an alarm and exits with 1 on discrepancies",
  )
    .requiredOption('--chain <chain>', 'of this chain')
    .requiredOption('--day <day>', 'of the blocks, UTC', day)
    .action(withDatabase(reconcile));

const headings: Record<DepositDifferenceKind, string> = {
  not_on_record: 'on chain, not on record',
  not_on_chain: 'on record, not on chain',
  differs: 'another amount or partner',
  not_in_ledger: 'not in the ledger',
};

const rowOf = ({ kind, transaction, ordinal, partnerId, chainUnits, recordedUnits }: DepositDifference) => ({
  ...{ kind, transaction, ordinal, partner_id: partnerId },
  chain_units: chainUnits === null ? null : `${chainUnits}`,
  recorded_units: recordedUnits === null ? null : `${recordedUnits}`,
});
type DifferenceRow = ReturnType<typeof rowOf>;

async function reconcile(
  { audit, settings }: CommandContext,
  { chain: name, day: from }: { chain: string; day: Date },
): Promise<Output> {
  const chain = await openConfiguredChain(settings, name);
  const { pool: db, clock } = audit;
  const alarms = createAlarms({ db, clock, log: { warn: () => {} } });
  const found = await reconcileDeposits({ db, clock, alarms }, chain, from);
  const { firstBlock, lastBlock, onChain, onRecord, differences, unread, isComplete } = found;
  const date = from.toISOString().slice(0, 10);
  const blocks = firstBlock > lastBlock ? 'no blocks' : `blocks ${firstBlock} to ${lastBlock}`;
  const rows = differences.map(rowOf);
  const ok = rows.length === 0 && unread.length === 0;
  const notes = [
    ...(isComplete ? [] : ['Not all blocks of the day are booked yet.']),
    ...unread.map(
      one => `The transfers to ${one.partnerId} in block ${one.blockNumber} are too many to be read.`,
    ),
  ];
  return {
    isBad: !ok,
    json: {
      ...{ ok, chain: chain.name, day: date, is_complete: isComplete },
      ...{ on_chain: onChain, on_record: onRecord, differences: rows },
      unread: unread.map(one => ({ block: `${one.blockNumber}`, partner_id: one.partnerId })),
    },
    text: [
      rows.length > 0
        ? differenceTable(rows)
        : `${date}, ${blocks}: no discrepancies (${onRecord} deposits).`,
      ...notes,
    ].join('\n'),
  };
}

const differenceTable = (rows: DifferenceRow[]) =>
  table(rows, row => ({
    difference: headings[row.kind],
    transaction: row.transaction,
    transfer: row.ordinal,
    partner: row.partner_id,
    'units on chain': row.chain_units ?? '–',
    'units on record': row.recorded_units ?? '–',
  }));
