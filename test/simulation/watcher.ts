import type { Alarms } from '../../src/alarms/index.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import type { PaymentSignals } from '../../src/payments/index.ts';
import type { Joined } from './joining.ts';
import type { Polling } from './scheduler.ts';

/** Work of every process beside payments: it watches a chain, or reads refunds. */
export interface Watcher {
  /** Until the process dies. */
  watch(joined: Joined, deps: WatchDeps): void;
}

export interface WatchDeps {
  alarms: Alarms;
  gateway: Gateway;
  signals: PaymentSignals;
  log: Record<'info' | 'error', (details: object, message: string) => void>;
  clockOf(polling: Polling): Clock;
}
