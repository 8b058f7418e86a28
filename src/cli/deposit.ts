import { createAlarms } from '../alarms/index.ts';
import { systemClock } from '../base/clock.ts';
import { csvLine } from '../base/csv.ts';
import type { ChainName } from '../base/deposit-settings.ts';
import { parseId } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import { OperatorError } from '../base/operator-error.ts';
import { programName } from '../base/program-name.ts';
import * as deposits from '../deposits/index.ts';
import { blockNumber, day, label, pageSize } from './arguments.ts';
import { type Context, choice, type DatabaseCommand, group } from './command.ts';
import { listing, refuse, table } from './output.ts';
import { find } from './partner.ts';

export const depositCommands = (command: DatabaseCommand) =>
  group('deposit', 'USDT deposits on chain', [
    command('address <partner>', 'show the deposit addresses of a partner', address).option(
      '--chain <chain>',
      'only of this chain',
    ),
    command('list <partner>', 'list the deposits of a partner, newest first', list).option(
      '--limit <count>',
      'how many',
      pageSize,
      20,
    ),
    command('decide <deposit>', 'credit or reject a held deposit; it cannot be undone', decide)
      .addOption(
        choice('--outcome <outcome>', 'credited: on the balance of the partner', ['credited', 'rejected']),
      )
      .requiredOption('--reason <reason>', 'why; stored in the audit log', label),
    command(
      'sweep',
      'print addresses, paths and balances as CSV, for an offline signer; signs nothing',
      sweep,
    ).requiredOption('--chain <chain>', 'of this chain'),
    command(
      'reconcile',
      "compare a day's deposits with the chain and the ledger; raises an alarm and exits with 1 on discrepancies",
      reconcile,
    )
      .requiredOption('--chain <chain>', 'of this chain')
      .requiredOption('--day <day>', 'of the blocks, UTC', day),
    command('rewind', 'read the blocks of a chain again after this one; nothing is credited twice', rewind)
      .requiredOption('--chain <chain>', 'of this chain')
      .requiredOption('--block <number>', 'the last block that stays as it is booked', blockNumber)
      .requiredOption('--reason <reason>', 'why; stored in the audit log', label),
    command('chains', 'show how far each chain is booked', progress),
  ]);

/** Balances in the smallest units of the token, as a signer needs them. */
async function sweep({ audit, settings }: Context, { chain: name }: { chain: string }) {
  const chain = await openConfiguredChain(settings, name);
  const rows = await deposits.readSweep(audit.pool, chain);
  const lines = rows.map(({ address: text, path, units }) => csvLine([chain.name, text, path, units]));
  return {
    json: {
      chain: chain.name,
      decimals: chain.decimals,
      addresses: rows.map(({ units, ...row }) => ({ ...row, units: `${units}` })),
    },
    text: [csvLine(['chain', 'address', 'path', 'units']), ...lines].join('').trimEnd(),
  };
}

async function address(context: Context, partner: string, { chain }: { chain?: string }) {
  const { audit, settings } = context;
  const chains = await openConfigured(settings);
  const { partnerId } = await find(context, partner);
  if (chain !== undefined && !chains.has(chain as ChainName)) throw notConfigured(chain, chains);
  const all = await deposits.openAddresses(audit.pool, audit.clock, chains, partnerId);
  const wanted = all.filter(one => chain === undefined || one.chain.name === chain);
  if (wanted.length === 0)
    throw new OperatorError(
      `No chain is watched yet, and a deposit could be missed: start the service, and see ${programName} deposit chains.`,
    );
  const addresses = wanted.map(one => ({
    chain: one.chain.name,
    address: one.address,
    path: one.path,
    min_usdt: formatMicroUsdt(one.chain.minMicroUsdt),
  }));
  return listing({ partner_id: partnerId, addresses }, 'addresses', {
    chain: 'chain',
    address: 'address',
    path: 'path',
    'smallest USDT': 'min_usdt',
  });
}

async function list(context: Context, partner: string, options: { limit: number }) {
  const { partnerId } = await find(context, partner);
  const page = await deposits.listDeposits(context.audit.pool, partnerId, options);
  const rows = page!.deposits.map(deposit => ({
    deposit_id: deposit.depositId,
    chain: deposit.chain,
    state: deposit.state,
    usdt: formatMicroUsdt(deposit.microUsdt),
    transaction: deposit.transaction,
    log_index: deposit.logIndex,
    sender: deposit.sender,
    seen_at: deposit.seenAt.toISOString(),
    credited_at: deposit.creditedAt?.toISOString() ?? null,
    reference: deposit.creditReference,
  }));
  return listing({ partner_id: partnerId, deposits: rows, has_more: page!.hasMore }, 'deposits', {
    deposit: 'deposit_id',
    'seen (UTC)': 'seen_at',
    chain: 'chain',
    state: 'state',
    USDT: 'usdt',
    transaction: 'transaction',
  });
}

const refusals = {
  no_deposit: (deposit: string) => `There is no deposit ${deposit}: check the ID, it looks like dep_01h….`,
  not_held: (deposit: string) => `${deposit} is not held: see ${programName} deposit list.`,
  too_large: (deposit: string) =>
    `${deposit} is of more than a billion USDT: credit it with ${programName} balance credit, then reject it.`,
  reference_used: (deposit: string) =>
    `The reference of ${deposit} has already been credited: check the partner, then reject it.`,
};

async function decide({ audit }: Context, deposit: string, decision: deposits.DepositDecision) {
  const depositId = parseId('dep', deposit);
  const result = depositId ? await deposits.decideDeposit(audit, depositId, decision) : 'no_deposit';
  if (result !== 'done') refuse(result, refusals[result](deposit));
  const { outcome } = decision;
  return { json: { deposit_id: depositId, state: outcome }, text: `${deposit} is ${outcome}.` };
}

async function progress({ audit, settings }: Context) {
  const booked = await deposits.listChainProgress(audit.pool);
  const chains = settings.depositChains.map(({ name, title, rpcUrls }) => {
    const found = booked.find(({ chain }) => chain === name);
    return {
      chain: name,
      title,
      nodes: rpcUrls.length,
      booked_block: found ? `${found.cursorBlock}` : null,
      booked_to: found?.cursorTime.toISOString() ?? null,
      final_block: found ? `${found.finalBlock}` : null,
      checked_at: found?.checkedAt.toISOString() ?? null,
    };
  });
  return listing({ chains }, 'chains', {
    chain: 'chain',
    nodes: 'nodes',
    'booked block': one => one.booked_block ?? 'none',
    'final block': one => one.final_block ?? 'none',
    'booked to (UTC)': one => one.booked_to ?? 'never',
    'checked (UTC)': one => one.checked_at ?? 'never',
  });
}

const headings: Record<deposits.DepositDifferenceKind, string> = {
  not_on_record: 'on chain, not on record',
  not_on_chain: 'on record, not on chain',
  differs: 'another amount or partner',
  not_in_ledger: 'not in the ledger',
};

const rowOf = (one: deposits.DepositDifference) => ({
  ...{ kind: one.kind, transaction: one.transaction, ordinal: one.ordinal, partner_id: one.partnerId },
  chain_units: one.chainUnits === null ? null : `${one.chainUnits}`,
  recorded_units: one.recordedUnits === null ? null : `${one.recordedUnits}`,
});
type DifferenceRow = ReturnType<typeof rowOf>;

async function reconcile(
  { audit, settings }: Context,
  { chain: name, day: from }: { chain: string; day: Date },
) {
  const chain = await openConfiguredChain(settings, name);
  const { pool: db, clock } = audit;
  const alarms = createAlarms({ db, clock, log: { warn: () => {} } });
  const found = await deposits.reconcileDeposits({ db, clock, alarms }, chain, from);
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

async function rewind(
  { audit, settings }: Context,
  { chain: name, block, reason }: { chain: string; block: bigint; reason: string },
) {
  const chain = await openConfiguredChain(settings, name);
  const result = await deposits.rewindChain(audit, chain, { block, reason });
  if (result.outcome !== 'done') refuse(result.outcome, rewindRefusals[result.outcome](block));
  return {
    json: {
      chain: name,
      from_block: `${result.fromBlock}`,
      to_block: `${result.toBlock}`,
      deposits_above: result.depositsAbove,
    },
    text: `All blocks of ${chain.title} after ${block} are read again; before it was those after ${result.fromBlock}. ${result.depositsAbove} deposits of them are on record and are not credited again. Afterwards compare each day with ${programName} deposit reconcile --chain ${name} --day DAY: it lists deposits that are not on the chain any more.`,
  };
}

const rewindRefusals: Record<
  Exclude<deposits.RewindOutcome['outcome'], 'done'>,
  (block: bigint) => string
> = {
  not_watched: () => 'No block of this chain is booked yet: there is nothing to read again.',
  not_below: block => `Block ${block} is not below the last booked one: see ${programName} deposit chains.`,
  not_final: block => `Block ${block} is not final on all nodes. Choose an earlier one.`,
  nodes_disagree: block =>
    `The nodes have different blocks ${block}. Choose an earlier one, or replace the node that is wrong.`,
};

async function openConfigured(settings: Context['settings']): Promise<deposits.DepositChains> {
  if (settings.depositChains.length > 0)
    return deposits.openDepositChains(settings.depositChains, systemClock);
  throw new OperatorError('DEPOSIT_CHAINS is not set: no deposits are accepted.');
}

const notConfigured = (chain: string, chains: deposits.DepositChains) =>
  new OperatorError(`"${chain}" is not in DEPOSIT_CHAINS: it has ${[...chains.keys()].join(', ')}.`);

async function openConfiguredChain(settings: Context['settings'], name: string) {
  const chains = await openConfigured(settings);
  const chain = [...chains.values()].find(candidate => candidate.name === name);
  if (!chain) throw notConfigured(name, chains);
  return chain;
}
