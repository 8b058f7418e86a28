import type { ApiDeps } from '../api/index.ts';
import type { Clock } from '../base/clock.ts';
import type { Acquire } from '../base/mutex.ts';
import type { Settings } from '../base/settings.ts';
import type { Pool, Queryable } from '../db/postgres/index.ts';
import type { Heartbeat } from '../db/processes/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import type { DepositChains } from '../deposits/index.ts';
import type { Gateway } from '../gateway/index.ts';
import type { MemberRight, MemberRole, Partner, PortalSession } from '../partners/index.ts';
import type { CreateDeps } from '../payments/index.ts';
import type { createSender, createVault } from '../webhooks/index.ts';

type Needed =
  | 'portalSessionHours'
  | 'publicUrl'
  | 'qrHosts'
  | 'quoteLock'
  | 'rateMaxAgeSec'
  | 'smtp'
  | 'supportUrl'
  | 'telegramBotName'
  | 'telegramToken'
  | 'webhookAllowPrivate';

/** What the portal needs from the rest of the service. */
export interface PortalDeps extends Pick<Settings, Needed> {
  pool: Pool;
  clock: Clock;
  log: { error(details: object, message: string): void };
  heartbeat: Pick<Heartbeat, 'isDatabaseAnswering'>;
  keyring: Keyring;
  vault: ReturnType<typeof createVault>;
  sender: ReturnType<typeof createSender>;
  chains: DepositChains;
  gateway: Gateway;
  /** What opens payments; shared with the API, with its rate limits and its admission control. */
  payments: CreateDeps & Pick<ApiDeps, 'admission' | 'rateLimiter' | 'heartbeat'>;
  /** Before an image is decoded; shared with the bot and the other processes of the machine. */
  acquireImageLock: Acquire;
  /** The folder with the built pages; tests use their own. */
  pagesFolder?: string;
}

/** What its routes get. */
export interface RouteDeps extends PortalDeps {
  db: Queryable;
  /** Reads of one partner, which leave a connection to those of others. */
  readsOf(partnerId: string): Queryable;
}

/** A member of a team, in a request about its partner. */
export interface SignedInMember {
  partner: Partner;
  role: MemberRole;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose session it is; set unless the route is open to everybody. */
    person: PortalSession;
    /** Set for routes about a partner. */
    member: SignedInMember;
  }
  interface FastifyContextConfig {
    /** Who may call a route of the portal: a member with this right, any signed-in person, or everybody. */
    allows?: MemberRight | 'person' | 'everybody';
  }
}
