import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterFile } from './after-file.ts';

export interface LocalServer {
  url: string;
  /** Every request since the answer was set. */
  requests: IncomingMessage[];
  answer(handler: RequestListener): void;
  answerWith(body: unknown, status?: number): void;
}

/** A local server with answers set by the test; closed at the end of the test file. */
export async function startLocalServer(): Promise<LocalServer> {
  let handler: RequestListener = (_request, response) => response.end();
  let requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  const answer = (next: RequestListener) => {
    handler = next;
    requests = [];
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    answer,
    answerWith: (body, status = 200) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      answer((_request, response) => response.writeHead(status).end(text));
    },
  };
}
