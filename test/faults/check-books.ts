import { idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import { formatMicroUsdt, parseKopecks, parseMicroUsdt } from '../../src/base/money.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { readBalance } from './calls.ts';
import { endsByKey } from './check-history.ts';
import type { Program } from './programs.ts';
import { callBank, check, type Round } from './round.ts';
import { startMicroUsdt } from './world.ts';

interface BookedPayment {
  id: string;
  partnerId: string;
  key: string;
  status: string;
  kopecks: bigint;
  events: number;
}

/** The answers to partners, our books and those of the bank side must agree to the last unit. */
export async function checkBooks(round: Round, service: Program): Promise<void> {
  const { findings } = await verifyLedger(round.world.pool);
  for (const finding of findings) round.findings.push(`ledger: ${JSON.stringify(finding)}`);
  const booked = await readPayments(round);
  checkKeys(round, booked);
  checkEvents(round, booked);
  await checkOrders(round, booked);
  await checkNothingIsOpen(round);
  await checkBalances(round, service);
}

async function readPayments({ world, partners }: Round): Promise<BookedPayment[]> {
  const statement = `SELECT p.id, p.partner_id, p.idempotency_key AS key, p.status, p.amount_kopecks AS kopecks,
            (SELECT count(*)::int FROM events e
              WHERE e.partner_id = p.partner_id AND e.mode = p.mode AND e.payment_id = p.id) AS events
       FROM payments p WHERE p.partner_id = ANY ($1)`;
  const ids = partners.map(({ partnerId }) => uuidFromId(partnerId));
  const { rows } = await world.pool.query(statement, [ids]);
  return rows.map(row => ({ ...row, id: idFromUuid('pay', row.id), partnerId: row.partner_id }));
}

function checkKeys(round: Round, all: BookedPayment[]): void {
  const payments = all.filter(({ status }) => status !== 'rejected');
  const byKey = Map.groupBy(payments, ({ key }) => key);
  const ends = endsByKey(round);
  for (const [key, { order, end }] of ends) {
    const [payment, ...more] = byKey.get(key) ?? [];
    check(round, more.length === 0, `key ${key} has several payments in the books`);
    const nameOf = (one: { id: string; status: string } | undefined) => `${one?.id} ${one?.status}`;
    if (!end) {
      check(round, !payment, `key ${key} was refused, but the books have ${nameOf(payment)}`);
      continue;
    }
    const [answered, booked] = [nameOf(end), nameOf(payment)];
    check(round, answered === booked, `key ${key}: answered ${answered}, booked ${booked}`);
    const [kopecks, wanted] = [parseKopecks(end.amount_rub), BigInt(order.kopecks)];
    const isWanted = kopecks === wanted && payment?.kopecks === wanted;
    check(round, isWanted, `key ${key}: over ${kopecks}, not ${wanted}`);
  }
  for (const key of byKey.keys()) check(round, ends.has(key), `nobody requested the payment with key ${key}`);
}

function checkEvents(round: Round, booked: BookedPayment[]): void {
  for (const { id, status, events } of booked) {
    const due = ['succeeded', 'failed'].includes(status) ? 1 : 0;
    check(round, events === due, `${id} is ${status} and has ${events} events`);
  }
}

/** Every order that succeeded at the bank is a payment that succeeded here, over the same amount, and the reverse. */
async function checkOrders(round: Round, booked: BookedPayment[]): Promise<void> {
  const paidAtBank = new Map<string, bigint>();
  const paidCodes = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = `since=${round.startedAt.toISOString()}&limit=1000${cursor && `&cursor=${cursor}`}`;
    const page = (await callBank(round.world, 'GET', `/orders?${query}`)) as {
      orders: { payment_id: string; qrc_id: string; state: string; amount_kopecks: number }[];
      next_cursor: string | null;
    };
    for (const { payment_id: id, qrc_id: code, state, amount_kopecks: kopecks } of page.orders) {
      check(round, state !== 'accepted', `the order of ${id} is still open`);
      if (state !== 'succeeded') continue;
      check(round, !paidCodes.has(code), `the code ${code} was paid twice`);
      paidCodes.add(code);
      paidAtBank.set(id, BigInt(kopecks));
    }
    cursor = page.next_cursor;
  }
  for (const { id, status, kopecks } of booked) {
    const paid = paidAtBank.get(id);
    const wanted = status === 'succeeded' ? kopecks : undefined;
    check(round, paid === wanted, `${id} is ${status} over ${kopecks} here, and the bank paid ${paid}`);
    paidAtBank.delete(id);
  }
  const others = [...paidAtBank.keys()];
  check(round, others.length === 0, `orders without a payment succeeded: ${others.join(', ')}`);
}

async function checkNothingIsOpen(round: Round): Promise<void> {
  const partners = round.partners.map(({ partnerId }) => uuidFromId(partnerId));
  const { rows } = await round.world.pool.query(
    `SELECT (SELECT count(*)::int FROM open_payments WHERE partner_id = ANY ($1)) AS open,
            (SELECT sum(held)::text FROM accounts WHERE partner_id = ANY ($1)) AS held`,
    [partners],
  );
  check(round, rows[0].open === 0, `${rows[0].open} payments are still open`);
  check(round, rows[0].held === '0', `${rows[0].held} micro-USDT are still held`);
}

async function checkBalances(round: Round, service: Program): Promise<void> {
  for (const partner of round.partners) {
    const spent = Array.from(endsByKey(round).values(), ({ order, end }) =>
      order.partner === partner && end?.status === 'succeeded' ? parseMicroUsdt(end.amount_usdt)! : 0n,
    ).reduce((sum, amount) => sum + amount, 0n);
    const { result } = await readBalance(round, service, partner);
    const answered = result.kind === 'balance' ? result.usdt : JSON.stringify(result);
    const wanted = formatMicroUsdt(startMicroUsdt - spent);
    const { partnerId } = partner;
    check(round, answered === wanted, `${partnerId} has ${answered}, and its payments leave ${wanted}`);
  }
}
