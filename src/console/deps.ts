import type { Settings } from '../base/settings.ts';
import type { AuditHeads } from '../db/audit/index.ts';
import type { Pool } from '../db/postgres/index.ts';
import type { Heartbeat } from '../db/processes/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import type { Permission, SignedIn } from '../operators/index.ts';
import type { ReconcilerDeps, RecoverDeps } from '../payments/index.ts';
import type { createSender, createVault } from '../webhooks/index.ts';

type Needed =
  | 'depositChains'
  | 'depositScreenUrl'
  | 'publicUrl'
  | 'quoteLock'
  | 'rateBounds'
  | 'rateMaxAgeSec'
  | 'rateRefreshSec'
  | 'rateSources'
  | 'rateSpreadBps'
  | 'webhookAllowPrivate'
  | 'webhookRetryScheduleSec';

/** What the console needs from the rest of the service. */
export interface ConsoleDeps
  extends Omit<RecoverDeps, 'heartbeat' | 'gateway' | 'writer' | 'leaseRelease'>,
    ReconcilerDeps,
    Pick<Settings, Needed> {
  pool: Pool;
  log: RecoverDeps['log'];
  gateway: RecoverDeps['gateway'];
  qrHosts: readonly string[];
  heartbeat: Heartbeat;
  keyring: Keyring;
  vault: ReturnType<typeof createVault>;
  sender: ReturnType<typeof createSender>;
  /** Heads of the audit log that have left the database; undefined if none do. */
  auditHeads: AuditHeads | undefined;
  /** The folder with the built pages; tests use their own. */
  pagesFolder?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The signed-in operator; set by the guard unless the route needs `nothing`. */
    operator: SignedIn;
  }
  interface FastifyContextConfig {
    /** The permission that a console route needs; `nothing` for routes that work before signing in. */
    needs?: Permission | 'nothing';
  }
}
