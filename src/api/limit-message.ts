import { formatKopecks } from '../base/money.ts';
import type { Caller } from '../payments/index.ts';
import type { ErrorCode } from './http/errors.ts';

/** Names the limit of the partner, or of the key, that the amount violates. */
export function limitMessage(code: ErrorCode, { limits, rights }: Caller): { message?: string } {
  switch (code) {
    case 'invalid_request':
      return { message: `The amount is below your minimum of ${formatKopecks(limits.minKopecks)} RUB.` };
    case 'amount_limit_exceeded':
      return { message: `The amount is above your maximum of ${formatKopecks(limits.maxKopecks)} RUB.` };
    case 'key_payment_limit_exceeded':
      return {
        message: `The amount is above the maximum of this key, ${formatKopecks(rights!.maxKopecks!)} RUB.`,
      };
    case 'key_daily_limit_exceeded':
      return {
        message: `With this payment, this key would spend more than ${formatKopecks(rights!.dailyKopecks!)} RUB a day.`,
      };
    default:
      return {};
  }
}
