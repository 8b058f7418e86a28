import { validateHeaderValue } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import { ConnectError, type ConnectFault, createConnector, type TlsFacts } from './connect.ts';
import { createNameLookup, type Lookup, lookUpLocally } from './dns.ts';
import { createReceivers, type Receiver } from './receivers.ts';
import { checkWebhookUrl, isPublicAddress } from './ssrf-guard.ts';

export interface Sending {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/**
 * `busy`: all connections to the receiver were taken for the whole time, or this machine had none left; nothing was
 * sent, and the receiver is not to blame. `bad_answer`: what came was not HTTP. `closed`: nothing came.
 */
export type SendError = ConnectFault | 'bad_answer';

export type Verdict =
  | { outcome: 'answered'; status: number; durationMs: number; tls?: TlsFacts }
  | { outcome: 'failed'; error: SendError; durationMs: number };

export interface SenderOptions {
  /** For local work: anything may be connected to. */
  allowPrivate: boolean;
  /** From the lookup of the name to the last header of the answer; before that, the longest wait for a connection. */
  timeoutMs?: number;
  lookup?: Lookup;
  /** Trusted instead of the certificate authorities that Node knows. */
  ca?: string;
  /** Many partners may share a host, and one of them must not take the connections of all: whoever sends has limits. */
  maxSocketsPerHost?: number;
  /** Over all hosts; beyond it, connections that rest are closed. */
  maxSockets?: number;
}

export interface Sender {
  /** Rejects only if it is aborted, the sender is closed, or the sending itself cannot be put on the wire. */
  send(sending: Sending, signal?: AbortSignal): Promise<Verdict>;
  /** Waits for what is under way. */
  close(): Promise<void>;
  /** How many hosts are kept in memory. */
  readonly hosts: number;
}

/** As much of an answer's body is passed over to keep the connection; one with more is cheaper to close. */
const maxIgnoredBytes = 1024;

const noMore = new Error('nobody waits for the rest');

/** Sends to addresses that partners chose: only to public ones, whatever they answer, and never waiting long. */
export function createSender(options: SenderOptions): Sender {
  const { allowPrivate, timeoutMs = 10_000, ca } = options;
  const lookup = options.lookup ?? (allowPrivate ? lookUpLocally : createNameLookup());
  const { maxSocketsPerHost = 1024, maxSockets = 1024 } = options;
  const isAllowed = allowPrivate ? () => true : isPublicAddress;
  const connect = createConnector({ isAllowed, lookup, timeoutMs, ...(ca ? { ca } : {}) });
  const receivers = createReceivers({ connect, maxSocketsPerHost, maxSockets });
  let underWay = 0;
  let isClosed = false;
  const idle = Promise.withResolvers<void>();

  /** The address was checked when it was saved, but perhaps under other settings. */
  function receiverAt(origin: string): Receiver | undefined {
    const known = receivers.known(origin);
    if (known || checkWebhookUrl(origin, { allowPrivate }).outcome === 'refused') return known;
    return receivers.add(origin);
  }

  async function send(sending: Sending, signal?: AbortSignal): Promise<Verdict> {
    if (isClosed) throw new Error('The sender is closed.');
    signal?.throwIfAborted();
    // Undici would never use the connection again that it had chosen for a header it then refuses.
    for (const name in sending.headers) validateHeaderValue(name, sending.headers[name]!);
    const { origin, pathname, search } = new URL(sending.url);
    const receiver = receiverAt(origin);
    if (!receiver) return { outcome: 'failed', error: 'blocked_address', durationMs: 0 };
    underWay++;
    try {
      return await post(receiver, pathname + search, sending, timeoutMs, signal);
    } finally {
      underWay--;
      if (isClosed && underWay === 0) idle.resolve();
    }
  }

  return {
    send,
    close: async () => {
      isClosed = true;
      if (underWay === 0) idle.resolve();
      await idle.promise;
      await receivers.destroy();
    },
    get hosts() {
      return receivers.size;
    },
  };
}

function post(
  receiver: Receiver,
  path: string,
  { headers, body }: Sending,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Verdict> {
  return new Promise((resolve, reject) => {
    let startedAt = performance.now();
    let controller: Dispatcher.DispatchController | undefined;
    /** The outcome is known; the connection may still be busy with what follows it. */
    let isOver = false;
    let hasBegun = false;
    let ignoredBytes = 0;

    const durationMs = () => Math.round(performance.now() - startedAt);

    function fail(error: SendError): void {
      isOver = true;
      resolve({ outcome: 'failed', error, durationMs: durationMs() });
    }

    // Without a controller the request has no connection yet; it is turned away when it gets one.
    const hangUp = () => controller?.abort(noMore);

    // Armed until the last byte of the answer, so it ends a body without end, too.
    const timer = setTimeout(() => {
      fail(waitedInVain() ? 'busy' : 'timeout');
      hangUp();
    }, timeoutMs);

    function onAbort(): void {
      isOver = true;
      reject(signal?.reason);
      waitedInVain();
      hangUp();
    }
    signal?.addEventListener('abort', onAbort);

    function release(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }

    function waitedInVain(): boolean {
      const hasWaited = receiver.giveUp(start);
      if (hasWaited) release();
      return hasWaited;
    }

    // The receiver has its full time, however long our own queue was.
    function start(): void {
      startedAt = performance.now();
      timer.refresh();
      receiver.pool.dispatch({ path, method: 'POST', headers, body }, handler);
    }

    function leave(): void {
      release();
      receiver.leave();
    }

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: given => {
        if (isOver) throw noMore;
        controller = given;
      },
      onResponseStarted: () => {
        hasBegun = true;
      },
      onResponseStart: (_controller, status, { 'content-length': length }) => {
        if (status < 200) return;
        isOver = true;
        const { tls } = receiver;
        const verdict = { outcome: 'answered', status, durationMs: durationMs() } as const;
        resolve(tls ? { ...verdict, tls } : verdict);
        if (Number(length) > maxIgnoredBytes) hangUp();
      },
      onResponseData: (_controller, chunk) => {
        ignoredBytes += chunk.length;
        if (ignoredBytes > maxIgnoredBytes) hangUp();
      },
      onResponseEnd: leave,
      onResponseError: (_controller, error) => {
        fail(faultOf(error, hasBegun));
        leave();
      },
    };
    receiver.enter(start);
  });
}

function faultOf(error: Error, hasBegun: boolean): SendError {
  if (error instanceof ConnectError) return error.fault;
  return hasBegun || error instanceof errors.HTTPParserError ? 'bad_answer' : 'closed';
}
