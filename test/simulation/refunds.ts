import { idFromUuid } from '../../src/base/ids.ts';
import type { Pool, Queryable } from '../../src/db/postgres/pool.ts';
import { findRefundedOf, readRefunds, startRefundReader } from '../../src/payments/index.ts';
import { listEvents } from '../../src/webhooks/index.ts';
import { createRandom } from '../helpers/random.ts';
import type { Account } from './accounts.ts';
import type { Bank } from './bank.ts';
import { createChainConnection } from './chain-connection.ts';
import type { Histories, History } from './histories.ts';
import { expectLostConnection, type Joined, type WatchDeps } from './joining.ts';
import { createBankRefunds, createRefundBooks } from './refund-books.ts';
import type { BookedEvent } from './webhook-books.ts';
import { createAgenda, type Span, type World } from './world.ts';

const readEveryMs = 30_000;
const dayMs = 86_400_000;

/** What there is beside payments draws from a source of its own, so that runs without it stay as they are. */
export interface BesideParts {
  seed: number;
  run: number;
  accounts: Account[];
  histories: Histories;
  bank: Bank;
}

export async function createRefunds(world: World, { seed, run, accounts, histories, bank }: BesideParts) {
  const { scheduler, violate } = world;
  const random = createRandom(seed + 600_000);
  const prefix = `refund-${run}-`;
  const ofBank = createBankRefunds(world, { random, prefix, bank });
  const books = createRefundBooks(world, { accounts, histories, listed: ofBank.listed });
  const from = new Date(scheduler.nowMs() - dayMs);
  const readers: Parameters<typeof readRefunds>[0][] = [];
  const agenda = createAgenda(world);
  await world.pool.query({
    text: `UPDATE service SET refunds_from = $1, refunds_read_to = NULL, refunds_asked_at = NULL, refunds_swept_at = $2`,
    values: [from, new Date(scheduler.nowMs())],
  });

  /** Refunds of earlier runs are on record for good; the bank side of this one does not list them. */
  function connectionOf(processName: string, history: History): Pool {
    const connection = createChainConnection(world, {
      ...{ random, processName, history },
      before: () => books.open(history),
      afterCommit: () => books.check(history),
    });
    const query =
      (on: Queryable): Queryable['query'] =>
      async statement => {
        const result = await on.query<{ refund_id?: string }>(statement);
        if (!statement.text.startsWith('SELECT refund_id FROM refunds')) return result as never;
        return { ...result, rows: result.rows.filter(row => row.refund_id!.startsWith(prefix)) } as never;
      };
    const connect = async () => {
      const client = await connection.connect();
      return { ...client, query: query(client) };
    };
    return { ...connection, connect, query: query(connection) } as unknown as Pool;
  }

  /** An operator has them read beside the readers, in a process that may be stalled or dead. */
  function readByOperatorAfter(ms: number): void {
    agenda.after(ms, () => {
      const reader = random.pick([...readers.slice(-3), undefined]);
      if (reader) readRefunds(reader, from).catch(error => expectLostConnection(world, error));
    });
  }

  /** What partners read of their payments and in their feeds. */
  async function checkAccount({ partnerId, uuid }: Account): Promise<void> {
    const { pool: db, model } = histories.current();
    const own = books.of(histories.current()).filter(refund => refund.uuid === uuid);
    const payments = model.books.payments.filter(payment => payment.partnerId === partnerId);
    const totals = await findRefundedOf(db, payments as Parameters<typeof findRefundedOf>[1]);
    for (const [index, { paymentId }] of payments.entries()) {
      const refunds = own.filter(refund => refund.paymentId === paymentId);
      const kopecks = refunds.reduce((sum, refund) => sum + refund.kopecks, 0);
      if (Number(totals[index]?.kopecks ?? 0) !== kopecks)
        violate('a payment shows what was returned of it', paymentId);
    }
    const page = await listEvents(
      db,
      { partnerId, mode: 'live' },
      { after: 0n, limit: 1_000, withRefunds: true },
    );
    const listed = page!.events.flatMap(({ eventId, payment, refund }) =>
      refund ? [`${eventId} ${payment.paymentId} ${refund.total.kopecks}`] : [],
    );
    const expected = own.map(
      ({ eventId, paymentId, totalKopecks }) => `${eventId} ${paymentId} ${totalKopecks}`,
    );
    if (listed.sort().join('\n') !== expected.sort().join('\n'))
      violate('the feed has each refund once', `${partnerId}: ${listed.length} of ${own.length}`);
  }

  const unsettled = () => books.unsettled(histories.current());

  return {
    /** The names of refunds about which something is left to do. */
    unsettled,
    paid: ofBank.paid,
    list: ofBank.list,
    plan: ({ faultsEndAfterMs }: Span) => {
      for (let left = random.pick([0, 2, 5]); left > 0; left--)
        readByOperatorAfter(random.between(0, faultsEndAfterMs));
    },
    stopFaults: ofBank.stopFaults,
    isDone: () => agenda.isEmpty() && ofBank.isDone() && unsettled().length === 0,
    watch: ({ name, history }: Joined, { clockOf, alarms, ...deps }: WatchDeps) => {
      const pool = connectionOf(name, history);
      const clock = clockOf({
        everyMs: [readEveryMs],
        nextDueMs: async () =>
          books.unsettled(history).length === 0 ? Number.POSITIVE_INFINITY : scheduler.nowMs(),
      });
      const reader = { ...deps, pool, db: pool, clock, alarms };
      readers.push(reader);
      startRefundReader(reader);
    },
    /** Of the refunds that are on record now. */
    events: (): BookedEvent[] =>
      books.of(histories.current()).map(({ uuid, eventId }) => ({
        ...{ eventId, mode: 'live', kind: 'payment.refunded' },
        partnerId: idFromUuid('prt', uuid),
      })),
    checkEnd: async () => {
      await books.open(histories.current());
      await books.check(histories.current());
      for (const account of accounts) await checkAccount(account);
    },
  };
}

/** The refunds of the bank side, the processes that read them, and operators who have them read. */
export type Refunds = Awaited<ReturnType<typeof createRefunds>>;
