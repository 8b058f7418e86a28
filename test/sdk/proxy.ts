import { createServer, request as forwardTo, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import type { Random } from '../helpers/random.ts';

/** Simulated failures of the network. Those with `after` in their name have reached the service. */
export const faults = [
  'cut before',
  'cut after',
  'cut within the answer',
  'delay',
  'too late',
  '503 before',
  '503 after',
  '429 before',
  '500 without a body before',
  '500 without a body after',
  '502 with a page after',
] as const;
type Fault = (typeof faults)[number];

export interface ProxyOptions {
  target: string;
  random: Random;
  /** The share of requests that fail. */
  share: number;
  /** Longer than the client waits. */
  tooLateMs: number;
}

/** A proxy between the library and the service that makes requests fail by a seeded plan. */
export async function startProxy({ target, random, share, tooLateMs }: ProxyOptions) {
  const happened = new Map<Fault | 'nothing', number>();
  const server = createServer((request, response) => {
    const fault = random.chance(share) ? random.pick(faults) : 'nothing';
    happened.set(fault, (happened.get(fault) ?? 0) + 1);
    handle(fault, request, response).catch(() => response.destroy());
  });

  async function handle(fault: Fault | 'nothing', request: IncomingMessage, response: ServerResponse) {
    const body = await readText(request);
    if (fault === 'cut before') return void response.destroy();
    if (fault === '503 before') return void response.writeHead(503, { 'retry-after': '1' }).end();
    if (fault === '429 before') return void response.writeHead(429, { 'retry-after': '3' }).end('slow down');
    if (fault === '500 without a body before') return void response.writeHead(500).end();
    if (fault === 'delay') await new Promise(resolve => setTimeout(resolve, random.between(1, 50)));
    const answer = await forward(target, request, body);
    if (fault === 'cut after') return void response.destroy();
    if (fault === '503 after') return void response.writeHead(503).end('{"nonsense":true}');
    if (fault === '500 without a body after') return void response.writeHead(500).end();
    if (fault === '502 with a page after') return void response.writeHead(502).end('<h1>Bad Gateway</h1>');
    if (fault === 'too late') await new Promise(resolve => setTimeout(resolve, tooLateMs));
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(answer.text),
    });
    if (fault !== 'cut within the answer') return void response.end(answer.text);
    response.write(answer.text.slice(0, answer.text.length / 2), () => response.destroy());
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, happened };
}

function forward(target: string, { method, url, headers }: IncomingMessage, body: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { host: _, connection: __, ...kept } = headers;
    const sent = forwardTo(`${target}${url}`, { method, headers: kept }, answer => {
      readText(answer).then(text => resolve({ status: answer.statusCode!, text }), reject);
    });
    sent.on('error', reject).end(body);
  });
}
