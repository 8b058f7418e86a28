import type { Clock } from '../../base/clock.ts';
import { loadOnUse } from '../../base/load-on-use.ts';
import { createConnector } from './connect.ts';
import { createNameLookup, type Lookup, lookUpLocally } from './dns.ts';
import { createHosts, type Host } from './hosts.ts';
import { post, type SendResult } from './post.ts';
import { checkWebhookUrl, isPublicAddress } from './ssrf-guard.ts';

const http = loadOnUse<typeof import('node:http')>('node:http');

export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface SenderOptions {
  clock: Clock;
  /** Disables the SSRF guard (development only). */
  allowPrivate: boolean;
  /** From looking up the name to the last header of the answer; also the longest wait for a free connection before. */
  timeoutMs?: number;
  lookup?: Lookup;
  /** Trusted instead of Node's certificate authorities. */
  ca?: string;
  /** Many partners may share a host. That one of them does not use up its sockets is up to the delivery slots. */
  maxSocketsPerHost?: number;
  /** Over all hosts; above it, idle connections are closed. */
  maxSockets?: number;
}

export type Sender = ReturnType<typeof createSender>;

/** Sends to URLs that partners chose: through the SSRF guard, with any kind of answer, and never waiting long. */
export function createSender(options: SenderOptions) {
  const { clock, allowPrivate, timeoutMs = 10_000, ca } = options;
  const lookup = options.lookup ?? (allowPrivate ? lookUpLocally : createNameLookup());
  const { maxSocketsPerHost = 1024, maxSockets = 1024 } = options;
  const isAllowed = allowPrivate ? () => true : isPublicAddress;
  const connect = createConnector({ isAllowed, lookup, timeoutMs, ...(ca ? { ca } : {}) });
  const hosts = createHosts({ connect, maxSocketsPerHost, maxSockets });
  let underWay = 0;
  let isClosed = false;
  const idle = Promise.withResolvers<void>();

  /** The URL was checked when it was saved, but perhaps under other settings. */
  function hostAt(origin: string): Host | undefined {
    const known = hosts.find(origin);
    if (known || checkWebhookUrl(origin, { allowPrivate }).outcome === 'refused') return known;
    return hosts.add(origin);
  }

  /** Rejects only if it is aborted, the sender is closed, or the request is not valid HTTP. */
  async function send(request: WebhookRequest, signal?: AbortSignal): Promise<SendResult> {
    if (isClosed) throw new Error('The sender is closed.');
    signal?.throwIfAborted();
    // Undici would lose the connection that it has chosen before it refuses a header.
    for (const name in request.headers) http().validateHeaderValue(name, request.headers[name]!);
    const { origin, pathname, search } = new URL(request.url);
    const host = hostAt(origin);
    if (!host) return { outcome: 'failed', error: 'blocked_address', durationMs: 0 };
    underWay++;
    try {
      return await post(host, { ...request, path: pathname + search }, { clock, timeoutMs, signal });
    } finally {
      underWay--;
      if (isClosed && underWay === 0) idle.resolve();
    }
  }

  return {
    send,
    /** Waits for the requests under way. */
    close: async () => {
      isClosed = true;
      if (underWay === 0) idle.resolve();
      await idle.promise;
      await hosts.destroy();
    },
    /** How many hosts are kept in memory. */
    get hosts() {
      return hosts.size;
    },
  };
}
