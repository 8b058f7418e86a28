/**
 * Webhook receiver that accepts everything and counts deliveries by id. A minimal HTTP server by hand, since it shares its
 * cores with the service.
 */
import { createServer, type Socket } from 'node:net';

const seen = new Set<string>();
let repeated = 0;
let lastAtMs = 0;

const answer = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const accepted = answer('');

function reset(): string {
  seen.clear();
  repeated = 0;
  return accepted;
}

function countDelivery(head: string): string {
  const id = /\r\nx-service-delivery: ([^\r]+)/i.exec(head)?.[1];
  if (!id) throw new Error(`a request without the id of a delivery: ${head}`);
  if (seen.has(id)) repeated += 1;
  else {
    seen.add(id);
    lastAtMs = Date.now();
  }
  return accepted;
}

function answerTo(head: string): string {
  if (head.startsWith('GET /arrivals')) {
    return answer(JSON.stringify({ events: seen.size, repeated, lastAtMs }));
  }
  return head.startsWith('GET /reset') ? reset() : countDelivery(head);
}

/** Answers the complete requests at the front of the input and returns the rest. */
function serve(socket: Socket, received: string): string {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return received;
  const head = received.slice(0, headEnd);
  const end = headEnd + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (received.length < end) return received;
  socket.write(answerTo(head));
  return serve(socket, received.slice(end));
}

const server = createServer({ noDelay: true }, socket => {
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received = serve(socket, received + chunk);
  });
  socket.on('error', () => {});
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  console.log(`ready at http://127.0.0.1:${port}`);
});
