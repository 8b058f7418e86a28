import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterFile } from './after-file.ts';

/** A server on a free port, closed at the end of the test file. Returns its address. */
export async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

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
  const url = await listen((request, response) => {
    requests.push(request);
    handler(request, response);
  });
  const answer = (next: RequestListener) => {
    handler = next;
    requests = [];
  };
  return {
    url,
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
