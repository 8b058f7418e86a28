import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { listen } from './local-server.ts';

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
  const address = await listen((request, response) => {
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
  return {
    url: `${address}/hook`,
    received,
    answer: next => {
      how = next;
    },
  };
}
