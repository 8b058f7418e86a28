import type { Alarms } from '../../alarms/index.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { type Pool, readRow } from '../../db/postgres/index.ts';
import { completeAddresses, readAccounts } from '../addresses.ts';
import type { DepositChain } from '../chain/deposit-chain.ts';
import type { ChainBlock, ChainNode } from '../chain/node.ts';
import { NodeError } from '../chain/node-error.ts';
import { creditDue } from '../credit.ts';
import { reportHeld } from '../held-alarm.ts';
import { type Accounts, bookRange, type Cursor, type PendingBooking, storePending } from './book.ts';
import { type RangeSize, rangeAfter, rangeFrom, readHalving } from './halving.ts';
import { DisagreementError, readFinalRange, readTransfers, type Unread } from './read-range.ts';

export interface RoundDeps {
  pool: Pool;
  clock: Clock;
  alarms: Alarms;
  chain: DepositChain;
  /** Whether final deposits wait for the answer of the screening service. */
  isScreened: boolean;
}

const maxRangesPerRound = 20;

/** One round of one chain: up to the final block, then what is not final. Problems of the chain are alarms. */
export async function runRound(deps: RoundDeps, size: RangeSize): Promise<'more' | 'done'> {
  const { pool, alarms, chain } = deps;
  const problems: unknown[] = [];
  const noteProblem = (error: unknown) => void problems.push(error);
  const outcome = await catchUp(deps, size).catch(noteProblem);
  // Whatever a node does: what is booked, in this round or in one that was interrupted, is credited.
  await creditDue(deps).catch(noteProblem);
  await alarms.report(
    `deposits ${chain.name}`,
    problems.slice(0, 1).map(error => alarmOf(error, chain)),
  );
  await reportHeld(pool, alarms, chain);
  return outcome ?? 'done';
}

function alarmOf(error: unknown, { title }: DepositChain): { kind: string; detail: string } {
  if (error instanceof DisagreementError)
    return {
      kind: 'deposit_nodes_disagree',
      detail: `${title}: ${error.message}. Nothing is credited meanwhile.`,
    };
  if (error instanceof NodeError) return { kind: 'deposit_node_failing', detail: error.message };
  return { kind: 'deposit_watch_failing', detail: `${title}: ${(error as Error).message}` };
}

async function catchUp(deps: RoundDeps, size: RangeSize): Promise<'more' | 'done'> {
  const { pool, clock, chain, isScreened } = deps;
  for (const node of chain.nodes) await verifyNode(node, chain);
  const final = await findFinal(chain);
  let cursor = await openCursor(deps, final);
  await refuseReplaced(chain, cursor);
  // Who knows an address got it before this: an address is on record before it is shown, and it was shown before the
  // transfers of the blocks up to here were made. So the accounts are read after the final block was.
  if (!(await completeAddresses(pool, clock, chain))) return 'more';
  const accounts = await readAccounts(pool, chain.name);
  const known = new Set(accounts.keys());
  for (let nth = 0; cursor.block < final.number; nth++) {
    if (nth === maxRangesPerRound) return 'more';
    const choose = rangeAfter(cursor.block, final.number, BigInt(chain.readAgain));
    const range = await readHalving({ clock, size }, choose, asked => readFinalRange(chain, known, asked));
    // Again, after the range was read: what comes after another block than that of the cursor does not follow it.
    await refuseReplaced(chain, cursor);
    await reportUnread(deps, accounts, range.unread);
    const isBooked = await bookRange({ pool, clock, chain, accounts, isScreened }, cursor, range);
    if (!isBooked) return 'done';
    cursor = { block: range.end.number, hash: range.end.hash };
  }
  await watchPending({ pool, clock, chain, accounts }, known, cursor.block, size);
  return 'done';
}

/**
 * Before the cursor moves past it: nothing else will tell of these transfers. An operator looks at the block, and either
 * credits what is due or reads it again with another node.
 */
async function reportUnread(
  { alarms, chain }: RoundDeps,
  accounts: Accounts,
  unread: Unread[],
): Promise<void> {
  for (const { blockNumber, account } of unread) {
    const isStored = await alarms.raise({
      kind: 'deposit_unread',
      subject: `${chain.name} block ${blockNumber} ${account}`,
      detail: `The transfers on ${chain.title} in block ${blockNumber} to ${chain.formatAccount(account)} of ${accounts.get(account)} are too many to be read. None of them was booked; what is read of them later is held.`,
    });
    if (!isStored) throw new Error(`the alarm of block ${blockNumber} could not be stored`);
  }
}

/**
 * What is above the final block, as the first node has it, in as many ranges as it wants. It may have nothing: a node is
 * behind, or calls every block final. While a chain makes no block final there are ever more, and some are not shown.
 */
async function watchPending(
  booking: PendingBooking,
  known: ReadonlySet<string>,
  final: bigint,
  size: RangeSize,
): Promise<void> {
  const { chain, clock } = booking;
  const [node] = chain.nodes;
  const { number: head } = await node!.block('latest');
  let last = final;
  for (let nth = 0; last < head && nth < maxRangesPerRound; nth++) {
    const fromBlock = last + 1n;
    const choose = rangeFrom(fromBlock, head);
    const { range, transfers } = await readHalving({ clock, size }, choose, async asked => ({
      range: asked,
      transfers: (await readTransfers(node!, chain, known, asked)).transfers,
    }));
    await storePending(booking, range, transfers);
    last = range.toBlock;
  }
}

/** A node of another network, or another contract, may be behind the address since the start. */
export async function verifyNode(node: ChainNode, chain: DepositChain): Promise<void> {
  const chainId = await node.chainId();
  if (chainId !== chain.chainId)
    throw new DisagreementError(`the ${node.label} is of another network (${chainId}, not ${chain.chainId})`);
  const decimals = await node.decimals(chain.contractAccount);
  if (decimals !== chain.decimals)
    throw new DisagreementError(
      `the ${node.label} says ${decimals} decimals of the contract, not ${chain.decimals}`,
    );
}

/** The last block that all nodes call final. */
export async function findFinal({ nodes, confirmations }: DepositChain): Promise<ChainBlock> {
  const finals = await Promise.all(
    nodes.map(async node => {
      if (confirmations === undefined) return node.block('finalized');
      const head = await node.block('latest');
      const number = head.number - BigInt(confirmations);
      return node.block(number > 0n ? number : 0n);
    }),
  );
  return finals.reduce((lowest, block) => (block.number < lowest.number ? block : lowest));
}

/**
 * A chain that is watched for the first time begins with its final block: no address was known before. All nodes must have that
 * block, or one that lies would stop the chain for good.
 */
async function openCursor({ pool, clock, chain }: RoundDeps, final: ChainBlock): Promise<Cursor> {
  const { number, hash } = final;
  const { rows: watched } = await pool.query<Cursor>({
    text: `UPDATE deposit_chains SET final_block = greatest(cursor_block, $2), checked_at = $3 WHERE chain = $1
           RETURNING cursor_block AS block, cursor_hash AS hash`,
    values: [chain.name, number, instantOf(clock)],
  });
  if (watched[0]) return watched[0];
  await refuseReplaced(chain, { block: number, hash });
  return readRow<Cursor>(pool, {
    text: `INSERT INTO deposit_chains AS c (chain, cursor_block, cursor_hash, cursor_time, final_block, checked_at, lease_until)
           VALUES ($1, $2, $3, $4, $2, $5, $5)
           ON CONFLICT (chain) DO UPDATE SET checked_at = $5
           RETURNING cursor_block AS block, cursor_hash AS hash`,
    values: [chain.name, number, hash, new Date(final.atMs), instantOf(clock)],
  });
}

/** What was final stays: another hash means another chain, or a reorganisation below the final block. */
async function refuseReplaced({ nodes }: DepositChain, { block, hash }: Cursor): Promise<void> {
  for (const node of nodes) {
    const head = await node.block('latest');
    // A node that went back knows nothing of that block yet.
    if (head.number < block) continue;
    if ((await node.block(block)).hash !== hash)
      throw new DisagreementError(`the ${node.label} has another block ${block} than the one that was final`);
  }
}
