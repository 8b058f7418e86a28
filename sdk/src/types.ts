/** Public names for the generated types. */
import type {
  CreatePaymentBody,
  CreateQuoteAnswer,
  CreateQuoteBody,
  CreateTestDepositAnswer,
  CreateTestDepositBody,
  GetBalanceAnswer,
  GetRateAnswer,
  GetStatementAnswer,
  GetTestClockAnswer,
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
/** Pay with its `quote_id` before `expires_at`, once and with this amount: the payment has its rate. */
export type LockedQuote = Quote & { quote_id: string; expires_at: string };
export type ResolveParams = ResolveQrBody;
export type ResolvedQr = ResolveQrAnswer;
export type PaymentParams = CreatePaymentBody;
export type PaymentPage = ListPaymentsAnswer;
export type EventParams = ListEventsQuery;
export type EventPage = ListEventsAnswer;
/** The statement of one day in UTC. Once the day is over, it never changes, not by a byte. */
export type Statement = GetStatementAnswer;
export type TestClock = GetTestClockAnswer;
export type TestDepositParams = CreateTestDepositBody;
export type TestDeposit = CreateTestDepositAnswer;

/** What a webhook carries and the feed lists. */
export type PaymentEvent = ListEventsAnswer['data'][number];

/** Times as the service wants them, or as dates. */
export interface ListParams extends Omit<ListPaymentsQuery, 'created_after' | 'created_before'> {
  created_after?: string | Date | undefined;
  created_before?: string | Date | undefined;
}
