import type { Alarms } from '../../alarms/index.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import type { ChainName } from '../../base/deposit-settings.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import { type Pool, type Queryable, readRows, withIds } from '../../db/postgres/index.ts';
import { callHttp } from '../../http-client/index.ts';
import type { DepositChain } from '../chain/deposit-chain.ts';
import { creditPartner } from '../credit.ts';
import { reportHeld } from '../held-alarm.ts';

interface ScreeningDeps {
  pool: Pool;
  clock: Clock;
  alarms: Alarms;
  chain: Pick<DepositChain, 'name' | 'title' | 'minMicroUsdt'>;
  /** Undefined: screening was turned off while deposits waited for it. Nobody allows them any more, so they are held. */
  screen: Screen | undefined;
}

interface WaitingDeposit extends ScreenedDeposit {
  partnerId: Id<'prt'>;
  id: string;
}

const askedAtOnce = 10;
const noAnswer: Screen = async () => 'no_answer';

/**
 * Asks about the oldest deposits of a chain that wait for it, and books each answer when it comes: a slow one delays no
 * other. No transaction is open while the service is asked. A process that dies in between has booked nothing, and the
 * deposit is asked about again.
 */
export async function screenDeposits(deps: ScreeningDeps): Promise<'more' | 'done'> {
  const { pool, alarms, chain, screen = noAnswer } = deps;
  const waiting = await listWaiting(pool, chain);
  // One booking at a time, so that a round takes one connection of the pool.
  let lastBooking: Promise<void> = Promise.resolve();
  const bookings = await Promise.allSettled(
    waiting.map(async deposit => {
      const answer = await screen(deposit);
      const book = () => bookAnswer(deps, deposit, answer);
      lastBooking = lastBooking.then(book, book);
      return lastBooking;
    }),
  );
  await reportHeld(pool, alarms, chain);
  const failed = bookings.find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return waiting.length === askedAtOnce ? 'more' : 'done';
}

/** The oldest, but dust after all others: anybody can send any number of it. */
async function listWaiting(
  db: Queryable,
  { name, minMicroUsdt }: ScreeningDeps['chain'],
): Promise<WaitingDeposit[]> {
  const rows = await readRows(db, {
    text: `SELECT partner_id AS "partnerId", id, chain, transaction, log_index AS "logIndex", sender, micro_usdt AS "microUsdt"
             FROM deposits WHERE chain = $1 AND state = 'screening'
            ORDER BY micro_usdt >= $2 DESC, id LIMIT ${askedAtOnce}`,
    values: [name, minMicroUsdt],
  });
  return rows.map(withIds<WaitingDeposit>({ partnerId: 'prt' }));
}

/**
 * An answer that comes second changes nothing. What is allowed and not credited here, since the process dies or an account is
 * locked, is credited in a later round of the watcher.
 */
async function bookAnswer(
  deps: ScreeningDeps,
  { partnerId, id }: WaitingDeposit,
  answer: ScreenAnswer,
): Promise<void> {
  const { pool, clock } = deps;
  const isAllowed = answer === 'allow';
  const heldFor = { allow: null, hold: 'screening', no_answer: 'no_answer' }[answer];
  await pool.query({
    text: `UPDATE deposits SET state = $3, held_for = $4, screened_at = $5
            WHERE partner_id = $1 AND id = $2 AND state = 'screening'`,
    values: [uuidFromId(partnerId), id, isAllowed ? 'accumulating' : 'held', heldFor, instantOf(clock)],
  });
  if (isAllowed) await creditPartner(deps, partnerId);
}

/** What is asked about. */
export interface ScreenedDeposit {
  chain: ChainName;
  transaction: string;
  logIndex: number;
  sender: string;
  microUsdt: bigint;
}

/** `no_answer` is everything but a clear yes or no in time: it holds the deposit as `hold` does. */
export type ScreenAnswer = 'allow' | 'hold' | 'no_answer';

/** Never fails. The address may contain an access key, so no error of the library goes anywhere. */
export type Screen = (deposit: ScreenedDeposit) => Promise<ScreenAnswer>;

/** From connecting to the last byte of the answer. */
const timeoutMs = 10_000;
/** More than any clear answer has. */
const maxAnswerBytes = 16_384;

/** Asks the screening service at `url` by POST. */
export const createScreen =
  (clock: Clock, url: string): Screen =>
  deposit =>
    askOnce(clock, url, deposit).catch((): ScreenAnswer => 'no_answer');

async function askOnce(clock: Clock, url: string, deposit: ScreenedDeposit): Promise<ScreenAnswer> {
  const { status, body } = await callHttp({
    url,
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'kopeck' },
    body: JSON.stringify({
      chain: deposit.chain,
      transaction_id: deposit.transaction,
      log_index: deposit.logIndex,
      sender: deposit.sender,
      amount_usdt: formatMicroUsdt(deposit.microUsdt),
    }),
    clock,
    timeoutMs,
    maxBytes: maxAnswerBytes,
  });
  if (status !== 200) return 'no_answer';
  const { decision } = JSON.parse(body.toString('utf8'));
  return decision === 'allow' || decision === 'hold' ? decision : 'no_answer';
}
