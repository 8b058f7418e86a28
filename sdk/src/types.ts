/** Public names for the generated types. */
import type * as api from './openapi.ts';

export type { Payment } from './openapi.ts';
export type Ping = api.PingAnswer;
export type Balance = api.GetBalanceAnswer;
export type Rate = api.GetRateAnswer;
export type QuoteParams = api.CreateQuoteBody;
export type Quote = api.CreateQuoteAnswer;
/** Pay with its `quote_id` before `expires_at`, once and with this amount: the payment has its rate. */
export type LockedQuote = Quote & { quote_id: string; expires_at: string };
export type ResolveParams = api.ResolveQrBody;
export type ResolvedQr = api.ResolveQrAnswer;
export type PaymentParams = api.CreatePaymentBody;
export type PaymentPage = api.ListPaymentsAnswer;
export type EventParams = api.ListEventsQuery;
export type EventPage = api.ListEventsAnswer;
/** The statement of one day in UTC. Once the day is over, it never changes, not by a byte. */
export type Statement = api.GetStatementAnswer;
export type TestClock = api.GetTestClockAnswer;
export type TestDepositParams = api.CreateTestDepositBody;
export type TestDeposit = api.CreateTestDepositAnswer;
export type TestRefundParams = api.CreateTestRefundBody;
export type TestRefund = api.CreateTestRefundAnswer;

/** What a webhook carries and the feed lists. */
export type PaymentEvent = api.ListEventsAnswer['data'][number];

/** Times as the service wants them, or as dates. */
export interface ListParams extends Omit<api.ListPaymentsQuery, 'created_after' | 'created_before'> {
  created_after?: string | Date | undefined;
  created_before?: string | Date | undefined;
}
