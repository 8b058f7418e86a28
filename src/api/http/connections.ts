import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { limitPerAddress } from './connections-of-address.ts';

/** Bounds on what callers can make a process keep; tests set their own. */
export interface ConnectionLimits {
  /** 2 000 idle connections took 8 KB each, after a request 16 KB. No load that a process can serve needs more of them. */
  maxConnections: number;
  /** Of one address, an IPv6 network (/64) being one. */
  maxPerAddress: number;
  /** An answer of which the caller takes no byte for this long is given up, and its connection closed. */
  stallTimeoutMs: number;
  /** Requests that a connection may send before their answers. Browsers and HTTP libraries send one. */
  maxPipelined: number;
  /** Headers and body must arrive within these; an answer may take longer. */
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  /** How often late headers and bodies are looked for. */
  checkIntervalMs: number;
  /** Between two requests. Longer than the 60 s for which common proxies keep an idle connection. */
  keepAliveTimeoutMs: number;
}

const defaults: ConnectionLimits = {
  maxConnections: 4_000,
  maxPerAddress: 1_000,
  stallTimeoutMs: 30_000,
  maxPipelined: 32,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  checkIntervalMs: 1_000,
  keepAliveTimeoutMs: 72_000,
};

/**
 * Keeps a caller that opens many connections, sends slowly or does not read its answers from filling the memory. Returns
 * whether a connection has a request that has arrived and is not answered.
 */
export function limitConnections(
  app: FastifyInstance,
  trustProxy: string[],
  given: Partial<ConnectionLimits> = {},
): (socket: Socket) => boolean {
  const limits = { ...defaults, ...given };
  const { maxConnections, maxPerAddress, stallTimeoutMs, maxPipelined } = limits;
  Object.assign(app.server, {
    maxConnections,
    // A full process closes the connection itself. Otherwise the primary process would offer it to all processes in
    // turn, without end if all are full.
    dropMaxConnection: true,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
  });
  const hasUnanswered = answerInTurn(app, maxPipelined);
  limitPerAddress(app.server, { maxPerAddress, trustProxy, hasUnanswered });
  // From here on nothing but the caller can delay the answer. Progress counts: Node restarts the time-out with it. When
  // the answer is complete, Node sets the time-out of an idle connection.
  app.addHook('onSend', (request, _reply, payload, done) => {
    request.raw.socket.setTimeout(stallTimeoutMs);
    done(null, payload);
  });
  return hasUnanswered;
}

/** A request in the order of its connection; `start` is set while it waits. */
interface Turn {
  request: IncomingMessage;
  start?: () => void;
}

/**
 * Handles the requests of a connection one after the other: the next one starts when the answer before it has left. So a
 * connection keeps one answer at a time, even if the caller sends many requests and reads nothing. Node alone stops
 * reading such a connection, but only after it has handled all requests of the 64 KB that it has read.
 */
function answerInTurn(app: FastifyInstance, maxPipelined: number): (socket: Socket) => boolean {
  const turnsOf = new WeakMap<Socket, Turn[]>();
  // Before Fastify's own listener, which runs the hook below.
  app.server.prependListener('request', (request, response) => {
    const { socket } = request;
    const turns = turnsOf.get(socket) ?? [];
    turnsOf.set(socket, turns);
    if (turns.length >= maxPipelined) return void socket.destroy();
    turns.push({ request });
    response.once('close', () => {
      turns.shift();
      const [next] = turns;
      if (!next || socket.destroyed) return;
      socket.setTimeout(0);
      next.start?.();
    });
  });
  app.addHook('onRequest', (request, _reply, done) => {
    const turns = turnsOf.get(request.raw.socket) ?? [];
    const turn = turns.find(one => one.request === request.raw);
    if (turn === turns[0]) done();
    // Without a turn the connection had too many requests and is closed: the request is dropped.
    else if (turn) turn.start = done;
  });
  return socket => turnsOf.get(socket)?.some(({ request }) => request.complete) ?? false;
}
