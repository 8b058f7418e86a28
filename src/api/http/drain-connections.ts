import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../base/clock.ts';

/** A request that was sent before the port closed may still be on its way. */
const arrivalMs = 250;

/**
 * Graceful shutdown: when the server closes, requests that have arrived are answered (drained), and every other
 * connection is closed soon: idle ones, and those whose request is still arriving. Node alone would wait for them.
 * Returns whether the server is closing.
 */
export function drainOnClose(app: FastifyInstance, clock: Clock): () => boolean {
  let isClosing = false;
  const inFlight = new Map<Socket, Set<IncomingMessage>>();
  app.server.on('connection', socket => {
    inFlight.set(socket, new Set());
    socket.once('close', () => inFlight.delete(socket));
  });
  app.server.on('request', (request, response) => {
    const { socket } = request;
    inFlight.get(socket)?.add(request);
    response.once('close', () => {
      inFlight.get(socket)?.delete(request);
      if (isClosing) socket.destroySoon();
    });
  });
  const closeIdle = () => {
    for (const [socket, requests] of inFlight)
      if ([...requests].every(({ complete }) => !complete)) socket.destroySoon();
  };
  app.addHook('preClose', done => {
    isClosing = true;
    clock.timer(arrivalMs, closeIdle);
    done();
  });
  return () => isClosing;
}
