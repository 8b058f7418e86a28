import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, parseId, uuidFromId } from '../../base/ids.ts';
import { foldRecipient, readPaymentStops } from '../../controls/index.ts';
import { sharedRead } from '../../db/batching/index.ts';
import { type Queryable, readRows } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { findSupersession } from '../lost-history/superseded.ts';
import type { Payment } from '../payment.ts';
import { type Creation, type OpenResult, refused } from '../results.ts';
import { findPayment } from '../store.ts';
import type { PaymentRequest } from './request.ts';
import type { PayableQr } from './resolve-qr.ts';

/** What stands before anything that the caller knows: the payment of the same key, or a reason not to open one. */
export type Refusal = { outcome: 'known'; payment: Payment } | (Creation & { outcome: 'refused' });

interface RefusalDeps {
  db: Queryable;
  clock: Clock;
}

/**
 * The first thing that refuses this request, as far as the database knows; `payments_open` asks the same function. With a code its
 * recipient is looked at, too.
 */
export async function findRefusal(
  { db, clock }: RefusalDeps,
  account: AccountKey,
  request: PaymentRequest,
  qr?: PayableQr,
): Promise<Refusal | undefined> {
  const { idempotencyKey, quoteId } = request;
  const quote = quoteId === undefined ? undefined : parseId('qte', quoteId);
  const asked = { ...account, idempotencyKey, qr, quote: quote && uuidFromId(quote), at: instantOf(clock) };
  // A quote may be waited for: not together with the requests of others.
  const { verdict, known_id } = asked.quote
    ? (await readRefusals(db, [asked]))[0]!
    : await readRefusal(db, asked);
  if (verdict === null) return undefined;
  if (verdict !== 'known') return refused(verdict);
  // The key was used while the function was asked.
  if (known_id === null) return findRefusal({ db, clock }, account, request, qr);
  return knownPayment({ db, clock }, account, idFromUuid('pay', known_id));
}

/** By its id: if it was undone since its key was looked up, the key is free again, and this request gets the answer of that one. */
export async function knownPayment(
  deps: RefusalDeps,
  account: AccountKey,
  paymentId: Id<'pay'>,
): Promise<Refusal> {
  const payment = await findPayment(deps.db, account, paymentId);
  // Its month was dropped from the archive: all that is known is that the key must not pay again.
  return payment ? replayable(deps, payment) : refused('idempotency_conflict');
}

/** A payment that may still be undone must not be shown. */
async function replayable({ db, clock }: RefusalDeps, payment: Payment): Promise<Refusal> {
  if (payment.status !== 'processing') return { outcome: 'known', payment };
  const supersession = await findSupersession(db, payment, await readPaymentStops(db, clock));
  return supersession === 'no' ? { outcome: 'known', payment } : refused('maintenance');
}

type Verdict = Exclude<OpenResult['verdict'], 'opened' | 'no_account' | 'rate_changed'>;

interface Asked extends AccountKey {
  idempotencyKey: string;
  qr: PayableQr | undefined;
  quote: string | undefined;
  at: Date;
}

interface FoundRefusal {
  verdict: Verdict | null;
  /** Of the payment of the same key. */
  known_id: string | null;
}

async function readRefusals(db: Queryable, asked: Asked[]): Promise<FoundRefusal[]> {
  const folded = asked.map(({ qr }) => qr && foldRecipient(qr));
  return readRows<FoundRefusal>(db, {
    name: 'what refuses payments',
    // The function costs as much as ten look-ups of a key. Before the gateway is asked there is no code yet, and seldom anything else.
    text: `WITH s AS MATERIALIZED (SELECT may_stop FROM payments_may_stop($9))
           SELECT k.payment_id AS known_id,
                  CASE WHEN k.payment_id IS NOT NULL THEN 'known'
                       WHEN s.may_stop OR a.quote IS NOT NULL OR a.code IS NOT NULL
                       THEN payment_refusal(a.partner_id, a.mode, a.key, ARRAY[a.name, a.id], a.code, NULL, a.quote, NULL, NULL, NULL, a.at)
                  END AS verdict
             FROM unnest($1::uuid[], $2::mode[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::timestamptz[])
                  WITH ORDINALITY AS a (partner_id, mode, key, name, id, code, quote, at, item),
                  LATERAL payment_of_key(a.partner_id, a.mode, a.key) AS k, s
            ORDER BY item`,
    values: [
      asked.map(({ partnerId }) => uuidFromId(partnerId)),
      asked.map(({ mode }) => mode),
      asked.map(({ idempotencyKey }) => idempotencyKey),
      folded.map(recipient => recipient?.name ?? null),
      folded.map(recipient => recipient?.id ?? null),
      asked.map(({ qr }) => qr?.qrcId ?? null),
      asked.map(({ quote }) => quote ?? null),
      asked.map(({ at }) => at),
      // The first of them: what stops that one may be over for the others.
      asked[0]!.at,
    ],
  });
}

const readRefusal = sharedRead(readRefusals);
