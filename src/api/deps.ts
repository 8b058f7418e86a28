import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Pool } from '../db/pool.ts';
import type { Presence } from '../db/presence.ts';
import type { Authenticator, RateLimiter } from '../partners/index.ts';
import type { Caller, CreateDeps } from '../payments/index.ts';
import type { Admission } from './admission.ts';
import type { UpdateDoor } from './telegram-webhook-route.ts';

/** What the door needs of the house. */
export interface ApiDeps extends CreateDeps {
  pool: Pool;
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  admission: Admission;
  presence: Presence;
  /** Adds the metrics of this process to those of its neighbours; returns how to read them all. */
  shareMetrics(own: Registry): () => Promise<string>;
  /** Addresses and ranges of proxies whose X-Forwarded-For is believed. */
  trustProxy: string[];
  /** The test clock was moved: what is due by that can be done at once. */
  onTestClockMoved?: () => void;
  /** Where the chat brings its news, if it shall. */
  updateDoor?: UpdateDoor | undefined;
  /** Whether partners are served here, or only what stands beside them. */
  servesPartners?: boolean;
  /** The door of the operators, if it is on this port. */
  console?: ((server: FastifyInstance) => Promise<void>) | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** Which of the two buckets the endpoint draws from. */
    kind?: 'create';
    /** For somebody else than partners, who needs no advice. */
    isOutsideContract?: true;
  }
}
