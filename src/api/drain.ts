import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * When the server closes, connections on which nobody waits for an answer are closed with it: those that are silent, and
 * those whose request has not come to its end. Node would wait for them. Returns whether it is closing.
 */
export function leaveQuickly(app: FastifyInstance): () => boolean {
  let isLeaving = false;
  const underWay = new Map<Socket, Set<IncomingMessage>>();
  app.server.on('connection', socket => {
    underWay.set(socket, new Set());
    socket.once('close', () => underWay.delete(socket));
  });
  app.server.on('request', (request, response) => {
    const { socket } = request;
    underWay.get(socket)?.add(request);
    response.once('close', () => {
      underWay.get(socket)?.delete(request);
      if (isLeaving) socket.destroySoon();
    });
  });
  app.addHook('preClose', done => {
    isLeaving = true;
    for (const [socket, requests] of underWay)
      if ([...requests].every(({ complete }) => !complete)) socket.destroySoon();
    done();
  });
  return () => isLeaving;
}
