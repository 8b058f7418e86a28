import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'vitest';
import { retryAdvice } from '../../src/base/errors.ts';

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field, and fails if it is missing
  json: any;
}

function parseAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const body = rest.join('\r\n\r\n');
  const isJson = headers['content-type']?.startsWith('application/json');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text: body,
    json: isJson && body ? JSON.parse(body) : undefined,
  };
}

/** Sends bytes as they are and reads until the server closes the connection. */
export function sendRaw(address: string, ...chunks: (string | Uint8Array)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(port), hostname);
    let received = '';
    socket.setTimeout(5_000, () => socket.destroy(new Error(`no end after: ${received}`)));
    socket.on('data', chunk => (received += chunk.toString('latin1')));
    // An answer before the connection broke counts.
    socket.on('error', error => (received ? resolve(parseAnswer(received)) : reject(error)));
    socket.on('close', () => resolve(parseAnswer(received)));
    for (const chunk of chunks) socket.write(chunk);
  });
}

/** One HTTP request that `fetch` would not send: any method, the same header twice. */
export function sendRequest(
  address: string,
  options: {
    method?: string;
    path?: string;
    headers?: Record<string, string | string[]>;
    body?: string | Uint8Array;
    agent?: Agent;
  },
): Promise<RawAnswer> {
  const { method = 'GET', path = '/', headers = {}, body, agent = new Agent() } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(`${address}${path}`, { method, headers, agent }, incoming => {
      let text = '';
      incoming.on('data', chunk => (text += chunk));
      incoming.on('end', () => {
        const isJson = incoming.headers['content-type']?.startsWith('application/json');
        resolve({
          status: incoming.statusCode!,
          headers: incoming.headers as Record<string, string>,
          text,
          json: isJson && text ? JSON.parse(text) : undefined,
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Expects the error body of the contract with the retry advice, and no other field. */
export function expectError(answer: RawAnswer, status: number, code: string): void {
  const message = expect.any(String);
  const advice = retryAdvice(code as Parameters<typeof retryAdvice>[0]);
  const requestId = answer.headers['x-request-id'];
  expect(requestId).toMatch(/^req_[0-7][0-9a-z]{25}$/);
  expect({ status: answer.status, body: answer.json }).toEqual({
    status,
    body: { error: { code, message, request_id: requestId, ...advice } },
  });
}
