import { idFromUuid } from '../../src/base/ids.ts';
import type { ListedRefund } from '../../src/gateway/gateway.ts';
import type { Random } from '../helpers/random.ts';
import type { Account } from './accounts.ts';
import type { Bank } from './bank.ts';
import type { Histories, History } from './histories.ts';
import { createAgenda, type World } from './world.ts';

/** A refund on record. Amounts are small enough for plain numbers. */
interface BookedRefund {
  refundId: string;
  paymentId: string;
  uuid: string;
  kopecks: number;
  microUsdt: number;
  totalKopecks: number;
  totalMicroUsdt: number;
  eventId: string;
}

interface Books {
  refunds: BookedRefund[];
  /** Entries of the ledger. */
  entries: { uuid: string; reference: string; microUsdt: number; path: string }[];
}

const statement = `
  SELECT (SELECT coalesce(json_agg(row_to_json(r) ORDER BY r."paymentId", r."totalKopecks"), '[]') FROM (
            SELECT refund_id AS "refundId", payment_id AS "paymentId", partner_id AS uuid, amount_kopecks AS kopecks,
                   micro_usdt AS "microUsdt", total_kopecks AS "totalKopecks", total_micro_usdt AS "totalMicroUsdt",
                   event_id::text AS "eventId"
              FROM refunds WHERE partner_id = ANY ($1)) AS r) AS refunds,
         (SELECT coalesce(json_agg(row_to_json(e)), '[]') FROM (
            SELECT partner_id AS uuid, reference, micro_usdt AS "microUsdt", from_account || ' ' || to_account AS path
              FROM entries
             WHERE partner_id = ANY ($1) AND mode = 'live' AND reference LIKE 'refund:%') AS e) AS entries`;

interface Parts {
  accounts: Account[];
  histories: Histories;
  listed(): BankRefund[];
}

/** What is on record about refunds, compared with the list of the bank side. */
export function createRefundBooks(world: World, { accounts, histories, listed }: Parts) {
  const { violate } = world;
  const uuids = accounts.map(({ uuid }) => uuid);
  /** By history. */
  const known = new Map<History, BookedRefund[]>();

  async function read({ pool }: History): Promise<Books> {
    const { rows } = await pool.query<Books>({
      name: 'refunds of the run',
      text: statement,
      values: [uuids],
    });
    for (const refund of rows[0]!.refunds) refund.paymentId = idFromUuid('pay', refund.paymentId);
    return rows[0]!;
  }

  const nameOf = ({ refundId }: { refundId: string }) =>
    listed().find(refund => refund.refundId === refundId)?.name ?? 'an unknown refund';

  function checkOne(history: History, booked: BookedRefund): void {
    const { refundId, paymentId, uuid, kopecks } = booked;
    const claims = listed().find(refund => refund.refundId === refundId)?.claims;
    if (!claims?.has(claimOf(paymentId, kopecks)))
      violate('only what the bank side has listed is booked', `${nameOf(booked)} of ${kopecks}`);
    const payment = history.model.find(paymentId);
    if (payment?.mode !== 'live' || payment.status !== 'succeeded')
      violate('only what was paid is refunded', `${nameOf(booked)}, ${payment?.mode} ${payment?.status}`);
    else if (payment.partnerId !== idFromUuid('prt', uuid))
      violate('a refund is that of the payer', nameOf(booked));
  }

  function checkTotals(history: History, paymentId: string, booked: BookedRefund[]): void {
    const payment = history.model.find(paymentId)!;
    let [kopecks, microUsdt] = [0, 0];
    for (const refund of booked) {
      kopecks += refund.kopecks;
      microUsdt += refund.microUsdt;
      const worth = (BigInt(payment.microUsdt) * BigInt(kopecks)) / BigInt(payment.kopecks);
      if (refund.totalKopecks !== kopecks || refund.totalMicroUsdt !== microUsdt)
        violate('the refunds of a payment add up', `${paymentId}, ${nameOf(refund)}`);
      if (microUsdt !== Number(worth))
        violate('a refund is at the rate of its payment', `${paymentId}: ${microUsdt} instead of ${worth}`);
    }
    if (kopecks > payment.kopecks)
      violate('never more is refunded than was paid', `${paymentId}: ${kopecks} of ${payment.kopecks}`);
  }

  function compare(history: History, { refunds, entries }: Books): void {
    for (const before of known.get(history)!)
      if (!refunds.some(now => JSON.stringify(now) === JSON.stringify(before)))
        violate('a refund stays as it was booked', nameOf(before));
    for (const refund of refunds) checkOne(history, refund);
    for (const paymentId of new Set(refunds.map(refund => refund.paymentId)))
      if (history.model.find(paymentId))
        checkTotals(
          history,
          paymentId,
          refunds.filter(refund => refund.paymentId === paymentId),
        );
    const [ofRefunds, ofLedger] = [
      refunds
        .filter(({ microUsdt }) => microUsdt > 0)
        .map(({ uuid, refundId, microUsdt }) => `${uuid} refund:${refundId} ${microUsdt} settled available`),
      entries.map(({ uuid, reference, microUsdt, path }) => `${uuid} ${reference} ${microUsdt} ${path}`),
    ];
    if (ofRefunds.sort().join('\n') !== ofLedger.sort().join('\n'))
      violate('each refund is in the ledger once', `${ofLedger.length} entries of ${ofRefunds.length}`);
    histories.eventIds.check(
      refunds.map(({ refundId, eventId }) => ({ paymentId: `refund ${refundId}`, eventId })),
    );
  }

  const sumOf = (refunds: BookedRefund[], uuid: string) =>
    refunds.filter(refund => refund.uuid === uuid).reduce((sum, { microUsdt }) => sum + microUsdt, 0);

  /** Alarms of the current history: those of a lost one do not matter. */
  const alarmsOn = (history: History, kind: string, { refundId }: BankRefund) =>
    history.model.books.alarms.filter(alarm => alarm.kind === kind && alarm.paymentId === refundId);

  function isSettled(history: History, refund: BankRefund): boolean {
    const { refundId, paymentId, amountKopecks, isRevoked, claims } = refund;
    const alarms = alarmsOn(history, 'refund_not_booked', refund);
    const booked = known.get(history)?.find(one => one.refundId === refundId);
    // Listed with two amounts: people look at it anyway.
    if (booked && claims.size > 1) return true;
    if (booked)
      return (
        (!isRevoked || alarmsOn(history, 'refund_revoked', refund).length > 0) &&
        alarms.every(({ open }) => !open)
      );
    if (isRevoked) return true;
    const payment = history.model.find(paymentId);
    const before = known.get(history)?.filter(one => one.paymentId === paymentId) ?? [];
    const total = before.reduce((sum, { kopecks }) => sum + kopecks, 0);
    const fits = payment?.status === 'succeeded' && total + Number(amountKopecks) <= payment.kopecks;
    return !fits && payment?.status !== 'processing' && alarms.length > 0;
  }

  return {
    /** Before the first transaction of a history: what it begins with is in its balances. */
    open: async (history: History) => {
      if (!known.has(history)) known.set(history, (await read(history)).refunds);
    },
    /** After every commit that may have booked a refund. */
    check: async (history: History) => {
      const books = await read(history);
      compare(history, books);
      const before = known.get(history)!;
      known.set(history, books.refunds);
      if (books.refunds.length === before.length) return;
      for (const { partnerId, uuid } of accounts)
        history.model.refunded(partnerId, sumOf(books.refunds, uuid) - sumOf(before, uuid));
      await history.database.changed();
    },
    of: (history: History) => known.get(history) ?? [],
    /** Refunds of the list that are not booked though they could be, or about which an alarm is missing or should be over. */
    unsettled: (history: History) =>
      listed()
        .filter(refund => !isSettled(history, refund))
        .map(({ name }) => name),
  };
}

export interface BankRefund extends ListedRefund {
  /** For the trace. */
  name: string;
  /** Payment and amount, each time it was listed and not revoked: two, if the bank side gave a false list. */
  claims: Set<string>;
}

export const claimOf = (paymentId: string, kopecks: number | bigint) => `${paymentId} ${kopecks}`;

/** Few, so that most lists have several pages. */
const refundsPerPage = 2;
/** No order has it. */
const unknownPayment = `pay_${'0'.repeat(26)}`;

/** The refunds that the bank side makes, revokes and lists: of orders in parts or wholly, and sometimes, against its contract, more than was paid or what was not. */
export function createBankRefunds(
  world: World,
  { random, prefix, bank }: { random: Random; prefix: string; bank: Bank },
) {
  const { scheduler, trace } = world;
  const refunds: BankRefund[] = [];
  const share = { false: random.pick([0, 0.2, 0.4]), revoked: random.pick([0, 0.2]), late: 0.2, twice: 0.2 };
  const agenda = createAgenda(world);

  /** What the bank side itself believes is left. */
  function leftOf(paymentId: string): number {
    const own = refunds.filter(refund => refund.paymentId === paymentId && !refund.isRevoked);
    const returned = own.reduce((sum, { amountKopecks }) => sum + Number(amountKopecks), 0);
    return Number(bank.truthOf(paymentId).amountKopecks) - returned;
  }

  function add(paymentId: string, kopecks: number): void {
    const name = `refund ${refunds.length + 1}`;
    const ageMs = random.chance(share.late) ? random.between(0, 1_200_000) : 0;
    const refund: BankRefund = {
      refundId: `${prefix}${refunds.length + 1}`,
      paymentId,
      amountKopecks: BigInt(kopecks),
      createdAt: new Date(scheduler.nowMs() - ageMs),
      isRevoked: false,
      name,
      claims: new Set(),
    };
    refunds.push(refund);
    trace.add('bank', `makes ${name} of ${kopecks} for ${paymentId}`);
    if (!world.script && random.chance(share.revoked))
      agenda.after(random.between(0, 90_000), () => revoke(refund));
  }

  function revoke(refund: BankRefund): void {
    refund.isRevoked = true;
    trace.add('bank', `revokes ${refund.name}`);
  }

  function refund(paymentId: string): void {
    const left = leftOf(paymentId);
    if (random.chance(share.false)) {
      if (random.chance(0.2)) add(unknownPayment, random.between(1, 5_000));
      else add(paymentId, Math.max(left, 0) + random.between(1, 5_000));
    } else if (left > 0) add(paymentId, random.chance(0.5) ? left : random.between(1, left));
  }

  /** Sometimes a refund is listed with another amount than before. */
  function say(refund: BankRefund): ListedRefund {
    const { refundId, paymentId, createdAt, isRevoked } = refund;
    const isFalse = random.chance(world.faults.lie / 8);
    const amountKopecks = refund.amountKopecks + (isFalse ? 1n : 0n);
    if (!isRevoked) refund.claims.add(claimOf(paymentId, amountKopecks));
    return { refundId, paymentId, amountKopecks, createdAt, isRevoked };
  }

  return {
    /** This order was paid, so it may be refunded. */
    paid: (paymentId: string) => {
      for (let left = random.pick([0, 1, 1, 2, 3]); left > 0; left--)
        agenda.after(random.between(0, random.pick([2_000, 120_000])), () => refund(paymentId));
    },
    // New ones come last, so a position in the list stays valid.
    list: (since: Date, cursor: string | undefined) => {
      const found = refunds.filter(({ createdAt }) => createdAt >= since);
      const from = Number(cursor ?? 0);
      const end = from + refundsPerPage;
      const again = from > 0 && random.chance(share.twice) ? 1 : 0;
      const page = found.slice(from - again, end).map(say);
      return { refunds: page, nextCursor: end < found.length ? `${end}` : null };
    },
    /** Those that a list would have. */
    listed: () => refunds,
    stopFaults: () => Object.assign(share, { false: 0, late: 0, twice: 0 }),
    /** No refund or revocation is still to come. */
    isDone: agenda.isEmpty,
  };
}
