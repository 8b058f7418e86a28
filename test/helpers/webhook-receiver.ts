import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field, and fails if it is missing
  json: any;
  path: string;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** How it answers from now on. */
  answer(how: (response: ServerResponse, received: Received) => void): void;
}

export const withStatus = (status: number) => (response: ServerResponse) =>
  void response.writeHead(status).end();
export const hanging = () => {};

/** A partner's webhook receiver on its own port; it answers 200 unless the test sets another answer. */
export async function startReceiver(): Promise<Receiver> {
  let how: (response: ServerResponse, received: Received) => void = withStatus(200);
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', chunk => (body += chunk));
    request.on('end', () => {
      // Not a webhook: a client of an earlier listener on this port.
      if (body === '') return void response.writeHead(400).end();
      const one = { headers: request.headers, body, json: JSON.parse(body), path: request.url! };
      received.push(one);
      how(response, one);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return {
    url,
    received,
    answer: next => {
      how = next;
    },
  };
}
