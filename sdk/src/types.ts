/** The names of the surface for what is generated, and what the document says only in words. */
import type {
  CreatePaymentBody,
  CreateQuoteAnswer,
  CreateQuoteBody,
  GetBalanceAnswer,
  GetRateAnswer,
  ListEventsAnswer,
  ListEventsQuery,
  ListPaymentsAnswer,
  ListPaymentsQuery,
  PingAnswer,
  ResolveQrAnswer,
  ResolveQrBody,
} from './openapi.ts';

export type { Payment } from './openapi.ts';
export type Ping = PingAnswer;
export type Balance = GetBalanceAnswer;
export type Rate = GetRateAnswer;
export type QuoteParams = CreateQuoteBody;
export type Quote = CreateQuoteAnswer;
export type ResolveParams = ResolveQrBody;
export type ResolvedQr = ResolveQrAnswer;
export type PaymentParams = CreatePaymentBody;
export type PaymentPage = ListPaymentsAnswer;
export type EventParams = ListEventsQuery;
export type EventPage = ListEventsAnswer;

/** What a webhook carries and the feed lists. */
export type PaymentEvent = ListEventsAnswer['data'][number];

export interface ListParams extends Omit<ListPaymentsQuery, 'created_after' | 'created_before'> {
  external_id?: string | undefined;
  created_after?: string | Date | undefined;
  created_before?: string | Date | undefined;
}

export interface Balances {
  [account: `${string}_usdt`]: string;
}

/** The books of one day in UTC. Once the day is over it is the same, byte for byte, whenever it is asked for. */
export interface Statement {
  object: 'statement';
  partner_id: string;
  mode: 'live' | 'test';
  day: string;
  /** Whether the day is over. */
  closed: boolean;
  currency: 'USDT';
  opening: Balances;
  entries: StatementEntry[];
  closing: Balances;
  /** What is debited for payments that were still open at the end of the day. */
  open_holds: OpenHold[];
  /** SHA-256 over the CSV form without its last line. */
  digest: string;
}

interface OpenHold {
  entry_no: string;
  at: string;
  amount_usdt: string;
  payment_id: string;
}

interface StatementEntry {
  entry_no: string;
  at: string;
  kind: string;
  from: string;
  to: string;
  amount_usdt: string;
  /** The balances after it. */
  after: Balances;
  payment_id: string | null;
  reference: string | null;
}

export interface TestClock {
  /** By how much the waiting of test mode has been shortened in all. */
  advanced_sec: number;
}
