import { formatKopecks } from '../base/money.ts';
import type { Caller } from '../payments/index.ts';
import type { ErrorCode } from './http/errors.ts';

const messages: Partial<Record<ErrorCode, (caller: Caller) => string>> = {
  invalid_request: ({ limits }) =>
    `The amount is below your minimum of ${formatKopecks(limits.minKopecks)} RUB.`,
  amount_limit_exceeded: ({ limits }) =>
    `The amount is above your maximum of ${formatKopecks(limits.maxKopecks)} RUB.`,
  key_payment_limit_exceeded: ({ rights }) =>
    `The amount is above the maximum of this key, ${formatKopecks(rights!.maxKopecks!)} RUB.`,
  key_daily_limit_exceeded: ({ rights }) =>
    `With this payment, this key would spend more than ${formatKopecks(rights!.dailyKopecks!)} RUB a day.`,
};

/** Names the limit of the partner, or of the key, that the amount violates. */
export function limitMessage(code: ErrorCode, caller: Caller): { message?: string } {
  const message = messages[code]?.(caller);
  return message === undefined ? {} : { message };
}
