import { createHash } from 'node:crypto';
import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { type Pool, type Queryable, transaction } from '../../db/pool.ts';
import { enterShard, enterShardOf } from '../../db/shards/sessions.ts';

interface HeldCode {
  qrcId: string;
  paymentId: Id<'pay'>;
}

type ToReserve = HeldCode & { partnerId: Id<'prt'> };

/** With several shards: a QR code is reserved for a partner before a live payment of it is opened. See docs/internals/shards.md. */
export interface CodeGuard {
  /** Whether each code is this partner's now. */
  reserve(payments: ToReserve[]): Promise<boolean[]>;
  /** Only for payments that have ended, or that were certainly not opened. */
  free(payments: HeldCode[]): Promise<void>;
  /**
   * One transaction of the partner's shard, for a payment of any age: its code is reserved, and stays so if there is a payment
   * then. Undefined if it is another partner's. For an old id the two must commit together: the sweeper may free it at once.
   */
  whileReserved<Result>(
    payment: ToReserve,
    work: (tx: Queryable) => Promise<{ result: Result; isPayment: boolean }>,
  ): Promise<Result | undefined>;
  /** Frees what was left behind; returns how many payments that were. */
  sweep(): Promise<number>;
}

/** Longer than a process may wait between reserving and the answer of the opening. */
const oldestUnopenedMs = 120_000;

/** `shards` has the sessions of every shard, by its number. */
export function createCodeGuard(shards: Pool[], clock: Clock): CodeGuard {
  const placeOf = (code: string) =>
    createHash('sha256').update(code).digest().readUInt32BE(0) % shards.length;

  /** For each shard that has some of the codes. */
  const byPlace = <Item extends HeldCode>(items: Item[]) =>
    [...Map.groupBy(items.entries(), ([, { qrcId }]) => placeOf(qrcId))].map(([place, entries]) => ({
      db: shards[place]!,
      indexes: entries.map(([index]) => index),
      items: entries.map(([, item]) => item),
    }));

  /** Accounts are locked before codes: here, and in `whileReserved`. */
  const sweepOne = ({ code, payment, partner, shard }: Reserved): Promise<number> =>
    transaction(shards[shard]!, async tx => {
      const { rows } = await tx.query<{ is_void: boolean }>({
        text: 'SELECT opening_void($1, $2, $3) AS is_void',
        values: [partner, payment, instantOf(clock)],
      });
      if (!rows[0]!.is_void) return 0;
      await enterShard(tx, placeOf(code));
      await freeIn(tx, [code], [payment]);
      return 1;
    });

  return {
    reserve: async payments => {
      const reserved = new Array<boolean>(payments.length).fill(false);
      await Promise.all(
        byPlace(payments).map(async ({ db, indexes, items }) => {
          const answers = await reserveIn(db, items);
          for (const [nth, isReserved] of answers.entries()) reserved[indexes[nth]!] = isReserved;
        }),
      );
      return reserved;
    },
    free: async payments => {
      const freeing = byPlace(payments).map(({ db, items }) =>
        freeIn(
          db,
          items.map(({ qrcId }) => qrcId),
          items.map(({ paymentId }) => uuidFromId(paymentId)),
        ),
      );
      await Promise.all(freeing);
    },
    whileReserved: (payment, work) =>
      transaction(shards[0]!, async tx => {
        const partner = uuidFromId(payment.partnerId);
        await enterShardOf(tx, partner);
        await tx.query({
          text: "SELECT FROM accounts WHERE partner_id = $1 AND mode = 'live' FOR UPDATE",
          values: [partner],
        });
        await enterShard(tx, placeOf(payment.qrcId));
        const [isReserved] = await reserveIn(tx, [payment]);
        if (!isReserved) return undefined;
        await enterShardOf(tx, partner);
        const { result, isPayment } = await work(tx);
        if (isPayment) return result;
        await enterShard(tx, placeOf(payment.qrcId));
        await freeIn(tx, [payment.qrcId], [uuidFromId(payment.paymentId)]);
        return result;
      }),
    sweep: async () => {
      let freed = 0;
      for (const db of shards)
        for (const reserved of await listOld(db, clock)) freed += await sweepOne(reserved);
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

async function reserveIn(db: Queryable, items: ToReserve[]): Promise<boolean[]> {
  const { rows } = await db.query<{ reserved: boolean }>({
    name: 'codes_reserve',
    text: 'SELECT reserved FROM codes_reserve($1, $2, $3) ORDER BY item',
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
