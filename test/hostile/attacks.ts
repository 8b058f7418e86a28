import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from './world.ts';

/** Does its worst until the signal aborts, within the limits that it has. Returns how many requests it made. */
type Attack = (target: Target, signal: AbortSignal) => Promise<number>;

const newQr = (kopecks: string) =>
  `https://qr.nspk.ru/AD${randomUUID().replaceAll('-', '').toUpperCase().slice(0, 30)}?type=02&sum=${kopecks}&cur=RUB`;

/** With this key, if there is one. */
async function send(
  { address }: Target,
  path: string,
  signal: AbortSignal,
  key?: string,
  init: RequestInit = {},
): Promise<void> {
  const headers = { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...init.headers };
  await fetch(address + path, { ...init, headers, signal })
    .then(response => response.arrayBuffer())
    .catch(() => {});
}

/** Starts a request at a steady rate, whether or not the earlier ones were answered. */
async function atRate(
  perSecond: number,
  signal: AbortSignal,
  request: (nth: number) => Promise<void>,
): Promise<number> {
  let nth = 0;
  while (!signal.aborted) {
    void request(nth++);
    await sleep(1_000 / perSecond, undefined, { signal }).catch(() => {});
  }
  return nth;
}

/** The usual limit of a partner. */
const creationsPerSecond = 3;
const othersPerSecond = 20;

/** With all its keys in turn, each at its limit. */
const createAtLimit = (target: Target, signal: AbortSignal, body: () => string) =>
  atRate(creationsPerSecond * target.testKeys.length, signal, nth =>
    send(target, '/v1/payments', signal, target.testKeys[nth % target.testKeys.length], {
      method: 'POST',
      headers: { 'idempotency-key': randomUUID() },
      body: body(),
    }),
  );

const get = (target: Target, signal: AbortSignal, paths: string[]) =>
  atRate(othersPerSecond, signal, nth =>
    send(target, paths[nth % paths.length]!, signal, target.testKeys[0]),
  );

/** Connections that send this and read nothing. */
async function holdConnections(
  { address }: Target,
  signal: AbortSignal,
  count: number,
  text: string,
): Promise<number> {
  const { hostname, port } = new URL(address);
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    return socket.pause().on('error', () => {});
  });
  await sleep(2 ** 30, undefined, { signal }).catch(() => {});
  for (const socket of sockets) socket.destroy();
  return count;
}

const getRequest = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

export const attacks: Record<string, Attack> = {
  'numbers of 15 KB in metadata': (target, signal) => {
    const metadata = `{"a":1${'0'.repeat(15_000)}1}`;
    return createAtLimit(target, signal, () => `{"qr_url":"${newQr('1000')}","metadata":${metadata}}`);
  },
  'lists of a long history': (target, signal) =>
    get(target, signal, [
      '/v1/payments?status=processing&limit=100',
      '/v1/payments?status=failed&limit=100',
      '/v1/payments?status=succeeded&limit=100',
      '/v1/payments?created_before=2020-01-01T00:00:00Z&limit=100',
    ]),
  'events and statements': (target, signal) =>
    get(target, signal, ['/v1/events?limit=100', '/v1/statement?date=2026-11-15', '/v1/balance']),
  'declined payments': (target, signal) =>
    createAtLimit(target, signal, () => JSON.stringify({ qr_url: newQr('1001') })),
  'a QR code that is slow to resolve': (target, signal) => {
    const init = { method: 'POST', body: JSON.stringify({ qr_url: target.slowQr }) };
    return atRate(othersPerSecond, signal, () =>
      send(target, '/v1/qr/resolve', signal, target.liveKey, init),
    );
  },
  'keys that do not exist': (target, signal) =>
    atRate(100, signal, () => send(target, '/v1/ping', signal, `kp_test_${randomUUID()}`)),
  'deep JSON to the sign-in': (target, signal) => {
    const headers = { origin: target.address, 'content-type': 'application/json' };
    const body = `{"a":${'['.repeat(250)}${'"x",'.repeat(15_000)}1${']'.repeat(250)}}`;
    const init = { method: 'POST', headers, body };
    return atRate(20, signal, () => send(target, '/console/api/login', signal, undefined, init));
  },
  'documentation again and again': (target, signal) => get(target, signal, ['/docs/', '/docs/search.json']),
  'downloads that nobody reads': (target, signal) =>
    holdConnections(target, signal, 400, getRequest('/docs/search.json').repeat(20)),
  'connections without a request': (target, signal) => holdConnections(target, signal, 1_000, ''),
};
