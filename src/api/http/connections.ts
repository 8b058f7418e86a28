import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { networkOf } from '../../operators/index.ts';
import { isAddressAllowed } from '../../partners/index.ts';

export type ConnectionLimits = typeof defaults;

/** Bounds on what callers can make a process keep; tests set their own. */
const defaults = {
  /** 2 000 idle connections took 8 KB each, after a request 16 KB. No load that a process can serve needs more of them. */
  maxConnections: 4_000,
  /** For one address, an IPv6 network (/64) being one. */
  maxPerAddress: 1_000,
  /** An answer of which the caller takes no byte for this long is given up, and its connection closed. */
  stallTimeoutMs: 30_000,
  /** Requests that a connection may send before their answers. Browsers and HTTP libraries send one. */
  maxPipelined: 32,
  /** Headers and body must arrive within these; an answer may take longer. */
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  /** How often late headers and bodies are looked for. */
  checkIntervalMs: 1_000,
  /** Between two requests. Longer than the 60 s for which common proxies keep an idle connection. */
  keepAliveTimeoutMs: 72_000,
};

/** Once the port is closed, a request that was sent before may still be on its way. */
const arrivalMs = 250;

/** A request in the order of its connection. */
interface Turn {
  request: IncomingMessage;
  response: ServerResponse;
}

/** Whether it has answered the request itself: then nothing else is done for it. */
export type Shed = (request: IncomingMessage, response: ServerResponse) => boolean;

interface ConnectionDeps {
  clock: Clock;
  trustProxy: string[];
  connectionLimits?: Partial<ConnectionLimits>;
}

interface Connection {
  turns: Turn[];
  /** The connections of its address, the longest idle first. */
  ofAddress: Set<Socket> | undefined;
}

/**
 * Keeps a caller that opens many connections, sends slowly or does not read its answers from filling the memory, and one
 * address from taking the connections of all.
 *
 * Handles the requests of a connection one after the other: the next one starts when the answer before it has left. So a
 * connection keeps one answer at a time, even if the caller sends many requests and reads nothing. Node alone stops
 * reading such a connection, but only after it has handled all requests of the 64 KB that it has read.
 *
 * When the server closes, requests that have arrived are answered, and every other connection is closed soon: idle ones,
 * and those whose request is still arriving. Node alone would wait for them.
 */
export function limitConnections(
  app: FastifyInstance,
  { clock, trustProxy, connectionLimits }: ConnectionDeps,
  shed: Shed = () => false,
) {
  const limits = { ...defaults, ...connectionLimits };
  Object.assign(app.server, {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
  });
  const connections = new Map<Socket, Connection>();
  /** Whether a connection has a request that has arrived and is not answered. */
  const hasUnanswered = (socket: Socket) =>
    connections.get(socket)?.turns.some(({ request }) => request.complete) ?? false;
  const accept = boundPerAddress(trustProxy, limits.maxPerAddress, hasUnanswered);
  let isClosing = false;

  // Not Node's own bound, which counts for each listening socket.
  app.server.on('connection', socket => {
    if (connections.size >= limits.maxConnections) return void socket.destroy();
    connections.set(socket, { turns: [], ofAddress: accept(socket) });
    socket.once('close', () => connections.delete(socket));
  });
  const [handle] = app.server.listeners('request') as RequestListener[];
  const start = ({ request, response }: Turn) => {
    if (!isClosing && shed(request, response)) request.socket.setTimeout(limits.stallTimeoutMs);
    else handle!(request, response);
  };
  app.server.removeAllListeners('request').on('request', (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket);
    if (!connection || connection.turns.length >= limits.maxPipelined) return void socket.destroy();
    const { turns, ofAddress } = connection;
    const turn = { request, response };
    response.once('close', () => {
      turns.shift();
      if (ofAddress?.delete(socket)) ofAddress.add(socket);
      const [next] = turns;
      if (next && !socket.destroyed) {
        socket.setTimeout(0);
        start(next);
      }
      if (isClosing) socket.destroySoon();
    });
    if (turns.push(turn) === 1) start(turn);
  });
  app.addHook('preClose', done => {
    isClosing = true;
    clock.timer(arrivalMs, () => {
      for (const socket of connections.keys()) if (!hasUnanswered(socket)) socket.destroySoon();
    });
    done();
  });
  return { hasUnanswered, isClosing: () => isClosing, stallTimeoutMs: limits.stallTimeoutMs };
}

/**
 * Beyond the bound of its address a new connection replaces the longest idle one; if none is idle, the new one is closed. A
 * trusted proxy connects for many callers, so it has no bound.
 */
function boundPerAddress(
  trustProxy: string[],
  maxPerAddress: number,
  hasUnanswered: (socket: Socket) => boolean,
): (socket: Socket) => Set<Socket> | undefined {
  const isProxy = (address: string) => trustProxy.length > 0 && isAddressAllowed(trustProxy, address);
  const openOf = new Map<string, Set<Socket>>();
  return socket => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isProxy(remoteAddress)) return undefined;
    const network = networkOf(remoteAddress);
    const open = openOf.get(network) ?? new Set();
    if (open.size >= maxPerAddress) {
      const idle = [...open].find(one => !hasUnanswered(one));
      if (!idle) return void socket.destroy();
      open.delete(idle);
      idle.destroy();
    }
    openOf.set(network, open.add(socket));
    socket.once('close', () => {
      if (open.delete(socket) && open.size === 0) openOf.delete(network);
    });
    return open;
  };
}
