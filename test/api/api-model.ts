import type { Clock } from '../../src/base/clock.ts';
/**
 * The API as the contract describes it, in plain arithmetic: it predicts every status, error code and balance.
 */
export type Mode = 'live' | 'test';

/** What happens when a code is paid. */
export type Behaviour =
  | 'pays'
  | 'pays once'
  | 'declines'
  | 'later'
  | 'never received'
  | 'answer lost'
  | 'busy'
  | 'changed';

export interface Code {
  url: string;
  kopecks: number | undefined;
  behaviour: Behaviour;
  paid: boolean;
}

export const liveRecipient = 'Лавка образцов';
export const recipientOf = { live: liveRecipient, test: 'Test recipient' };

export interface ModelPayment {
  id: string;
  key: string;
  body: string;
  code: Code;
  mode: Mode;
  kopecks: number;
  status: 'processing' | 'succeeded' | 'failed';
  detail: string | null;
  error: string | null;
  day: number;
  /** When it is polled next, and how often it was polled. */
  openedMs: number;
  nextMs: number;
  tries: number;
}

export interface Account {
  balance: number;
  references: Map<string, number>;
  /** Oldest first. */
  payments: ModelPayment[];
}

export interface ModelPartner {
  suspended: boolean;
  limits: { maxKopecks: number; dailyKopecks: number | null; concurrent: number };
  accounts: Record<Mode, Account>;
}

const pausesMs = [2_000, 5_000, 10_000, 30_000, 60_000];
export const microUsdt = (kopecks: number) => Math.ceil((kopecks * 100_000_000) / 925_000);
export const formatUsdt = (micro: number) => (micro / 1_000_000).toFixed(6);
export const dayOf = (ms: number) => Math.floor(ms / 86_400_000);

export class Model {
  maintenance = false;
  blocked = new Set<string>();
  rateMs: number;
  partners: ModelPartner[] = [];
  readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
    this.rateMs = clock.nowMs();
  }

  unfinished(code: Code, mode: Mode, who: ModelPartner): boolean {
    const payments = (mode === 'live' ? this.partners : [who]).flatMap(
      ({ accounts }) => accounts[mode].payments,
    );
    return payments.some(payment => payment.code === code && payment.status === 'processing');
  }

  /** The error that refuses a new payment, in the order of checks. */
  objection(who: ModelPartner, mode: Mode, code: Code, amount: number | undefined): string | undefined {
    const { limits, accounts } = who;
    const { payments, balance } = accounts[mode];
    if (this.maintenance) return '503 maintenance';
    if (this.clock.nowMs() - this.rateMs > 300_000) return '503 rate_unavailable';
    const kopecks = code.kopecks ?? amount;
    if (kopecks === undefined) return '400 unsupported_variable_amount';
    if (amount !== undefined && amount !== kopecks) return '400 amount_mismatch';
    if (kopecks < 1_000) return '400 invalid_request';
    if (kopecks > limits.maxKopecks) return '400 amount_limit_exceeded';
    if (this.blocked.has(recipientOf[mode])) return '403 recipient_blocked';
    if (code.behaviour === 'changed') return '409 qr_changed';
    if (this.unfinished(code, mode, who)) return '409 duplicate_qr_in_flight';
    if (payments.filter(({ detail }) => detail === 'awaiting_gateway').length >= limits.concurrent)
      return '503 gateway_busy';
    const turnover = payments
      .filter(({ day, status }) => day === dayOf(this.clock.nowMs()) && status !== 'failed')
      .reduce((sum, payment) => sum + payment.kopecks, 0);
    if (limits.dailyKopecks !== null && turnover + kopecks > limits.dailyKopecks)
      return '403 daily_limit_exceeded';
    if (balance < microUsdt(kopecks)) return '402 insufficient_balance';
    if (code.behaviour === 'busy') return '503 gateway_busy';
    return undefined;
  }

  finish(account: Account, payment: ModelPayment, error: string | null): void {
    payment.status = error ? 'failed' : 'succeeded';
    payment.detail = error && 'gateway_declined';
    payment.error = error;
    if (error) account.balance += microUsdt(payment.kopecks);
    else payment.code.paid = true;
  }

  open(account: Account, payment: ModelPayment): void {
    const { code, mode } = payment;
    account.payments.push(payment);
    account.balance -= microUsdt(payment.kopecks);
    payment.openedMs = this.clock.nowMs();
    payment.nextMs = this.clock.nowMs() + (mode === 'test' ? 30_000 : 2_000);
    if (code.behaviour === 'pays once' && code.paid) this.finish(account, payment, 'qr_already_paid');
    else if (code.behaviour === 'pays' || code.behaviour === 'pays once') this.finish(account, payment, null);
    else if (code.behaviour === 'declines')
      this.finish(account, payment, mode === 'test' ? 'gateway_declined' : 'limit_exceeded');
    else payment.detail = code.behaviour === 'later' ? 'awaiting_gateway' : 'manual_review';
  }

  recover(): void {
    for (const account of this.partners.flatMap(({ accounts }) => [accounts.live, accounts.test])) {
      for (const payment of account.payments) {
        if (payment.status !== 'processing' || payment.nextMs > this.clock.nowMs()) continue;
        if (payment.code.behaviour === 'never received') this.finish(account, payment, 'not_executed');
        else if (payment.mode === 'test' || payment.code.behaviour === 'answer lost')
          this.finish(account, payment, null);
        else {
          payment.tries += 1;
          if (this.clock.nowMs() - payment.openedMs >= 7_200_000) payment.detail = 'manual_review';
          payment.nextMs = this.clock.nowMs() + pausesMs[Math.min(payment.tries, 4)]!;
        }
      }
    }
  }
}
