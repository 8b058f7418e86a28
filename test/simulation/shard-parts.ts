import { createOutcomeWaiters } from '../../src/payments/create/outcome-waiters.ts';
import type { PaymentSignals } from '../../src/payments/index.ts';
import { createQuoteLocker } from '../../src/payments/quotes/locker.ts';
import { createLeaseRelease } from '../../src/payments/recovery/lease-release.ts';
import type { CodeGuard } from '../../src/payments/shards/code-guard.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import type { Joined } from './joining.ts';
import { quoteLock } from './quote-limits.ts';

/** What a process has for each shard, by its number. With one shard, that of the general connection. */
export function createShardParts<Deps extends { signals: PaymentSignals; codeGuard: CodeGuard | undefined }>(
  deps: Deps,
  { name, instance, history, clock }: Joined,
) {
  const { signals, codeGuard } = deps;
  return history.ofShards.map((_, shard) => {
    const db = history.database.connectionOf(name, codeGuard && shard);
    return {
      ...deps,
      db,
      writer: createPaymentWriter(db, clock, {}, {}, codeGuard),
      quoteLocker: createQuoteLocker(db, clock, quoteLock, history.ofShards.length),
      outcomeWaiters: createOutcomeWaiters(db, clock, signals),
      leaseRelease: createLeaseRelease(db, clock, instance),
    };
  });
}
