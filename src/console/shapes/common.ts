/** The pages may import only from this folder and that of the shared shapes, so these are exported again. */
export type { ModeName as Mode, Page, PaymentStatus } from '../../web/index.ts';

/** Live quotes whose rate is locked, neither used nor expired, and how much of them there may be. */
export interface LockedQuotes {
  locked_usdt: string;
  max_usdt: string;
  count: number;
}
