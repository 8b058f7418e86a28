import { createHash } from 'node:crypto';
import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { createBatcher, nextLoopTurn } from '../../db/batch.ts';
import { isItemError, lockTimeoutMs, type Pool, type Queryable, transaction } from '../../db/pool.ts';
import { unusableShard } from '../../db/shards/availability.ts';
import { enterShard, enterShardOf } from '../../db/shards/sessions.ts';

interface HeldCode {
  qrcId: string;
  paymentId: Id<'pay'>;
}

type ToReserve = HeldCode & { partnerId: Id<'prt'> };

/** With several shards: a QR code is reserved for a partner before a live payment of it is opened. See docs/internals/shards.md. */
export interface CodeGuard {
  /** Whether the code is this partner's now. */
  reserve(payment: ToReserve): Promise<boolean>;
  /** Only for a payment that has ended, or that was certainly not opened. */
  free(payment: HeldCode): Promise<void>;
  /**
   * One transaction of the partner's shard, for a payment of any age: its code is reserved, and stays so if there is a payment
   * then. Undefined if it is another partner's. For an old id the two must commit together: the sweeper may free it at once.
   */
  whileReserved<Result>(
    payment: ToReserve,
    work: (tx: Queryable) => Promise<{ result: Result; isPayment: boolean }>,
  ): Promise<Result | undefined>;
  /** After a loss: codes of unfinished payments whose place was on a node that has lost them. A repeat changes nothing. */
  reserveAgain(): Promise<void>;
  /** Frees what was left behind; returns how many payments that were. */
  sweep(): Promise<number>;
}

const batches = { isItemError, maxBatch: 256, maxWaiting: 5_000, gather: nextLoopTurn };

/** Longer than a process may wait between reserving and the answer of the opening. */
const oldestUnopenedMs = 120_000;

/** Shorter than for other statements: until a node that hangs is noticed, payments of all shards wait for it to reserve. */
const reserveWithinMs = lockTimeoutMs + 500;

/** The number of the shard where a code is reserved. */
export const placeOf = (code: string, shards: number) =>
  createHash('sha256').update(code).digest().readUInt32BE(0) % shards;

/**
 * `shards` has the sessions of every shard, by its number: transactions there may span shards. `nodes` has those on the node of
 * each shard. `whyNot` says why a shard cannot be used now: if its node hangs, payments of other shards must not wait for it.
 */
export function createCodeGuard(
  shards: Pool[],
  clock: Clock,
  nodes = shards,
  whyNot: (shard: number) => string | undefined = () => undefined,
): CodeGuard {
  function refuseUnusable(place: number): void {
    const reason = whyNot(place);
    if (reason !== undefined) throw unusableShard(place, reason);
  }

  /** A batch for each shard: one that does not answer holds up the payments whose codes have their place there, and no other. */
  const reservers = nodes.map((db, place) =>
    createBatcher<ToReserve, boolean>({
      ...batches,
      run: async items => {
        refuseUnusable(place);
        return reserveIn(db, items, reserveWithinMs);
      },
    }),
  );
  const freers = nodes.map((db, place) =>
    createBatcher<HeldCode, undefined>({
      ...batches,
      run: async items => {
        refuseUnusable(place);
        await freeIn(
          db,
          items.map(({ qrcId }) => qrcId),
          items.map(({ paymentId }) => uuidFromId(paymentId)),
        );
        return items.map(() => undefined);
      },
    }),
  );

  /** Accounts are locked before codes: here, and in `whileReserved`. */
  const sweepOne = ({ code, payment, partner, shard }: Reserved, place: number): Promise<number> =>
    transaction(shards[shard]!, async tx => {
      const { rows } = await tx.query<{ is_void: boolean }>({
        text: 'SELECT opening_void($1, $2, $3) AS is_void',
        values: [partner, payment, instantOf(clock)],
      });
      if (!rows[0]!.is_void) return 0;
      // Where it was found: a process that knew of fewer shards has reserved it elsewhere.
      await enterShard(tx, place);
      await freeIn(tx, [code], [payment]);
      return 1;
    });

  const whileReserved: CodeGuard['whileReserved'] = (payment, work) =>
    transaction(shards[0]!, async tx => {
      const partner = uuidFromId(payment.partnerId);
      await enterShardOf(tx, partner);
      await tx.query({
        text: "SELECT FROM accounts WHERE partner_id = $1 AND mode = 'live' FOR UPDATE",
        values: [partner],
      });
      await enterShard(tx, placeOf(payment.qrcId, shards.length));
      const [isReserved] = await reserveIn(tx, [payment]);
      if (!isReserved) return undefined;
      await enterShardOf(tx, partner);
      const { result, isPayment } = await work(tx);
      if (isPayment) return result;
      await enterShard(tx, placeOf(payment.qrcId, shards.length));
      await freeIn(tx, [payment.qrcId], [uuidFromId(payment.paymentId)]);
      return result;
    });

  return {
    reserve: payment => reservers[placeOf(payment.qrcId, shards.length)]!(payment),
    free: payment => freers[placeOf(payment.qrcId, shards.length)]!(payment),
    whileReserved,
    reserveAgain: async () => {
      for (const db of shards) {
        const unfinished = await listUnfinished(db);
        for (const [place, held] of Map.groupBy(unfinished, ({ qrcId }) => placeOf(qrcId, shards.length)))
          for (const payment of await findUnreserved(shards[place]!, held))
            await whileReserved(payment, async tx => ({
              result: undefined,
              isPayment: await isUnfinished(tx, payment),
            }));
      }
    },
    sweep: async () => {
      let freed = 0;
      const failures: unknown[] = [];
      // A shard that does not answer holds up its own codes and payments, and no others.
      for (const [place, db] of shards.entries()) {
        const old = await listOld(db, clock).catch(error => void failures.push(error));
        for (const reserved of old ?? [])
          freed += await sweepOne(reserved, place).catch(error => {
            failures.push(error);
            return 0;
          });
      }
      if (failures.length > 0) throw failures[0];
      return freed;
    },
  };
}

interface Reserved {
  code: string;
  payment: string;
  partner: string;
  /** Of the partner. */
  shard: number;
}

async function listOld(db: Queryable, clock: Clock): Promise<Reserved[]> {
  const { rows } = await db.query<Reserved>({
    text: `SELECT r.qrc_id AS code, payment, r.partner_id AS partner, p.shard
             FROM code_reservations r, unnest(r.payment_ids) AS payment, partners p
            WHERE p.id = r.partner_id AND payment < $1::uuid`,
    values: [idBefore(clock.nowMs() - oldestUnopenedMs)],
  });
  return rows;
}

async function listUnfinished(db: Queryable): Promise<ToReserve[]> {
  const { rows } = await db.query<{ code: string; partner: string; payment: string }>({
    text: `SELECT qrc_id AS code, partner_id AS partner, payment_id AS payment FROM open_payments WHERE mode = 'live'`,
  });
  return rows.map(({ code, partner, payment }) => ({
    qrcId: code,
    partnerId: idFromUuid('prt', partner),
    paymentId: idFromUuid('pay', payment),
  }));
}

/** Those of these payments whose codes are not reserved for them here. */
async function findUnreserved(db: Queryable, payments: ToReserve[]): Promise<ToReserve[]> {
  const { rows } = await db.query<{ payment: string }>({
    text: 'SELECT unnest(payment_ids) AS payment FROM code_reservations WHERE qrc_id = ANY ($1)',
    values: [payments.map(({ qrcId }) => qrcId)],
  });
  const reserved = new Set(rows.map(({ payment }) => payment));
  return payments.filter(({ paymentId }) => !reserved.has(uuidFromId(paymentId)));
}

async function isUnfinished(tx: Queryable, { qrcId, paymentId }: ToReserve): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: "SELECT FROM open_payments WHERE qrc_id = $1 AND payment_id = $2 AND mode = 'live'",
    values: [qrcId, uuidFromId(paymentId)],
  });
  return rowCount === 1;
}

async function reserveIn(db: Queryable, items: ToReserve[], withinMs?: number): Promise<boolean[]> {
  const { rows } = await db.query<{ reserved: boolean }>({
    name: 'codes_reserve',
    text: 'SELECT reserved FROM codes_reserve($1, $2, $3) ORDER BY item',
    ...(withinMs === undefined ? {} : { query_timeout: withinMs }),
    values: [
      items.map(({ qrcId }) => qrcId),
      items.map(({ partnerId }) => uuidFromId(partnerId)),
      items.map(({ paymentId }) => uuidFromId(paymentId)),
    ],
  });
  return rows.map(({ reserved }) => reserved);
}

const freeIn = (db: Queryable, codes: string[], payments: string[]) =>
  db.query({ name: 'codes_free', text: 'SELECT codes_free($1, $2)', values: [codes, payments] });

/** Ids begin with their time. */
const idBefore = (ms: number) => `${Math.max(0, ms).toString(16).padStart(12, '0')}${'0'.repeat(20)}`;
