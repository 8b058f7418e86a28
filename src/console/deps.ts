import type { Settings } from '../base/settings.ts';
import type { Heartbeat } from '../db/heartbeat.ts';
import type { Pool } from '../db/pool.ts';
import type { Permission, SignedIn } from '../operators/index.ts';
import type { ReconcilerDeps, RecoverDeps } from '../payments/index.ts';
import type { createSender, createVault } from '../webhooks/index.ts';

type Needed =
  | 'publicUrl'
  | 'rateMaxAgeSec'
  | 'rateRefreshSec'
  | 'rateSources'
  | 'rateSpreadBps'
  | 'webhookAllowPrivate'
  | 'webhookRetryScheduleSec';

/** What the console works with. */
export interface ConsoleDeps
  extends Omit<RecoverDeps, 'heartbeat' | 'gateway'>,
    ReconcilerDeps,
    Pick<Settings, Needed> {
  pool: Pool;
  gateway: RecoverDeps['gateway'];
  qrHosts: readonly string[];
  heartbeat: Heartbeat;
  secretKey: string;
  vault: ReturnType<typeof createVault>;
  sender: ReturnType<typeof createSender>;
  /** Where the built pages are, if not where the build puts them. */
  pagesFolder?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard on every route that needs something. */
    operator: SignedIn;
  }
  interface FastifyContextConfig {
    /** What an operator must be allowed to; `nothing` is for who has not signed in yet. Routes of the console say it. */
    needs?: Permission | 'nothing';
  }
}
