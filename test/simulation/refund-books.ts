import { idFromUuid } from '../../src/base/ids.ts';
import type { Account } from './accounts.ts';
import { type BankRefund, claimOf } from './bank-refunds.ts';
import type { Histories, History } from './histories.ts';
import type { World } from './world.ts';

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

/** What is on record about refunds, compared with the list of the bank side. */
export interface RefundBooks {
  /** Before the first transaction of a history: what it begins with is in its balances. */
  open(history: History): Promise<void>;
  /** After every commit that may have booked a refund. */
  check(history: History): Promise<void>;
  of(history: History): BookedRefund[];
  /** Refunds of the list that are not booked though they could be, or about which an alarm is missing or should be over. */
  unsettled(history: History): string[];
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

export function createRefundBooks(world: World, { accounts, histories, listed }: Parts): RefundBooks {
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
    const name = world.trace.nameOf(paymentId);
    let [kopecks, microUsdt] = [0, 0];
    for (const refund of booked) {
      kopecks += refund.kopecks;
      microUsdt += refund.microUsdt;
      const worth = (BigInt(payment.microUsdt) * BigInt(kopecks)) / BigInt(payment.kopecks);
      if (refund.totalKopecks !== kopecks || refund.totalMicroUsdt !== microUsdt)
        violate('the refunds of a payment add up', `${name}, ${nameOf(refund)}`);
      if (microUsdt !== Number(worth))
        violate('a refund is at the rate of its payment', `${name}: ${microUsdt} instead of ${worth}`);
    }
    if (kopecks > payment.kopecks)
      violate('never more is refunded than was paid', `${name}: ${kopecks} of ${payment.kopecks}`);
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
    open: async history => {
      if (!known.has(history)) known.set(history, (await read(history)).refunds);
    },
    check: async history => {
      const books = await read(history);
      compare(history, books);
      const before = known.get(history)!;
      known.set(history, books.refunds);
      if (books.refunds.length === before.length) return;
      for (const { partnerId, uuid } of accounts)
        history.model.refunded(partnerId, sumOf(books.refunds, uuid) - sumOf(before, uuid));
      await history.database.changed();
    },
    of: history => known.get(history) ?? [],
    unsettled: history =>
      listed()
        .filter(refund => !isSettled(history, refund))
        .map(({ name }) => name),
  };
}
