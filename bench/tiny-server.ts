import { createServer, type Socket } from 'node:net';

/** A request whose body has arrived; a body is one character per byte. */
export interface TinyRequest {
  head: string;
  body: string;
}

export const answer = (body: string, status = '200 OK') =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/**
 * A minimal HTTP server by hand, since it shares its cores with the service that is measured. Texts are ASCII, and a
 * client waits for each answer before it sends the next request.
 */
export function serveTiny(answerTo: (request: TinyRequest) => string | Promise<string>): void {
  const respond = (socket: Socket, request: TinyRequest) => {
    const answered = answerTo(request);
    if (typeof answered === 'string') socket.write(answered, 'latin1');
    else void answered.then(text => socket.write(text, 'latin1'));
  };
  const server = createServer({ noDelay: true }, socket => {
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
      for (let end = endOfRequest(received); end > 0; end = endOfRequest(received)) {
        const headEnd = received.indexOf('\r\n\r\n');
        respond(socket, { head: received.slice(0, headEnd), body: received.slice(headEnd + 4, end) });
        received = received.slice(end);
      }
    });
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as { port: number };
    console.log(`ready at http://127.0.0.1:${port}`);
  });
}

/** 0 while the first request is incomplete. */
function endOfRequest(received: string): number {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, headEnd))?.[1] ?? 0;
  const end = headEnd + 4 + Number(length);
  return received.length < end ? 0 : end;
}
