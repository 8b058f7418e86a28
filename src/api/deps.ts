import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { ClockOffset, PartnerReads, Pool } from '../db/postgres/index.ts';
import type { Heartbeat } from '../db/processes/index.ts';
import type { DepositChains } from '../deposits/index.ts';
import type { Authenticator, KeyHolder, RateLimiter, Scope } from '../partners/index.ts';
import type { Caller, CreateDeps, QuoteLocker } from '../payments/index.ts';
import type { RequestLog } from '../request-log/index.ts';
import type { Span } from '../telemetry/index.ts';
import type { SigningKeys } from '../webhooks/index.ts';
import type { Admission } from './http/admission-control.ts';
import type { ConnectionLimits } from './http/connections.ts';
import type { TelegramReceiver } from './telegram/webhook-route.ts';

/** What the HTTP server needs from the rest of the service. */
export interface ApiDeps extends CreateDeps {
  pool: Pool;
  reads: PartnerReads;
  quoteLocker: QuoteLocker;
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  admission: Admission;
  /** Whose public keys are published. */
  signingKeys: Pick<SigningKeys, 'listPublic'>;
  heartbeat: Heartbeat;
  /**
   * Before an answer that something does not exist, which a partner may take for final. In the seconds after a fail-over this
   * process may still read the old primary, while another one has written it to the new one: then this fails, which is 503.
   */
  confirmHistory(): Promise<void>;
  /** How the clock of this machine differs from the database's. */
  clockOffset(): ClockOffset;
  /** The workers with a part of the archive, and those of them that do not answer. */
  archive?: { nodes(): string[]; unreachable(): string[] };
  /** Aborted when the process will stop: it still serves, but its callers should leave. */
  draining?: AbortSignal;
  metrics: Registry;
  /** Undefined: requests are not logged. */
  requestLog?: RequestLog | undefined;
  /** Addresses and ranges of proxies whose X-Forwarded-For is trusted. */
  trustProxy: string[];
  /** Set when Telegram pushes updates instead of being polled. */
  telegramReceiver?: TelegramReceiver | undefined;
  /** The chains on which USDT is deposited; none by default. */
  chains?: DepositChains;
  /** Where partners reach support; undefined: no message sends them there. */
  supportUrl?: string | undefined;
  /** The user name of the Telegram bot, which the documentation links to. */
  telegramBotName?: string | undefined;
  /** Where partners reach the service; the documentation names it in examples and to search engines. */
  publicUrl?: string | undefined;
  /** The pages of the documentation are rendered after the start, not on the first request for them. */
  rendersDocsAhead?: boolean;
  /** False in a process that serves the console only. */
  servesPartners?: boolean;
  /** Tests change them. */
  connectionLimits?: Partial<ConnectionLimits>;
  /** Add the routes of the console and of the portal, when this process serves them. */
  console?: ((server: FastifyInstance) => Promise<void>) | undefined;
  portal?: ((server: FastifyInstance) => Promise<void>) | undefined;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Of `ApiDeps`. */
    supportUrl: string | undefined;
  }
  interface FastifyRequest {
    caller: Caller;
    /** Whose key it carries, also if it is refused; undefined if the key is not genuine. */
    keyHolder?: KeyHolder | undefined;
    /** It took a token of its partner's rate limit. */
    isAdmitted?: true;
    /** Set for a request for a payment, where traces are exported. */
    span?: Span;
    /** The code of the error body that answers it. */
    errorCode?: string;
    /** The payment that it created, or would have created again. */
    paymentId?: string;
  }
  interface FastifyContextConfig {
    /** Creating payments has its own rate limit; everything else shares one. */
    kind?: 'create';
    /** What a key must have; by default `pay` to create payments and `read` for everything else. */
    scope?: Scope | 'any';
    /** Not for partners: its errors carry no `retryable` and `same_key`. */
    isOutsideContract?: true;
  }
}
