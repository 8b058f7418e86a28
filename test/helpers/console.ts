import { Registry } from 'prom-client';
import { afterAll, expect } from 'vitest';
import { createAlarms } from '../../src/alarms/index.ts';
import { createAdmission, createServer } from '../../src/api/index.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { type ConsoleDeps, createConsole } from '../../src/console/index.ts';
import { openOutsidePools } from '../../src/db/postgres/outside-pools.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { startHeartbeat } from '../../src/db/processes/heartbeat.ts';
import { createCallLog, createHttpGateway } from '../../src/gateway/index.ts';
import type { OperatorRole, Permission } from '../../src/operators/index.ts';
import { openSession } from '../../src/operators/sessions.ts';
import { createAuthenticator, createRateLimiter } from '../../src/partners/index.ts';
import {
  createPaymentParts,
  createPaymentSignals,
  createReferenceSealer,
  type RecoverDeps,
} from '../../src/payments/index.ts';
import { createRequestLog } from '../../src/request-log/index.ts';
import { createSender, createSigningKeys, createVault } from '../../src/webhooks/index.ts';
import { defaultQuoteLock, patient } from './api.ts';
import { keyring } from './partners.ts';
import { insertOperator } from './review.ts';

export interface ConsoleOptions extends Partial<ConsoleDeps> {
  pool: Pool;
  clock?: Clock;
  /** Address of the bank side; without one, the gateway is unreachable. */
  gatewayUrl?: string;
  gatewayToken?: string;
  trustProxy?: string[];
}

/** The console and the partner API on a real port of this process, so that a test can control their clock. */
export async function startConsole({ pool, clock = systemClock, ...options }: ConsoleOptions) {
  const { gatewayUrl = 'http://127.0.0.1:1', gatewayToken, trustProxy = [], ...others } = options;
  const authenticator = createAuthenticator(pool, clock, keyring);
  const heartbeat = await startHeartbeat({ pool, clock: systemClock });
  const outside = openOutsidePools(pool);
  const sender = createSender({ clock: systemClock, allowPrivate: true });
  const log = { warn: (_details: object) => {}, error: (_details: object) => {} };
  const calls = createCallLog({ db: pool, clock, log });
  const bank = { url: gatewayUrl, token: gatewayToken };
  const gateway = createHttpGateway({ ...bank, ...patient, clock: systemClock, onCall: calls.record });
  const requestLog = createRequestLog({ db: pool, clock, log, isDatabaseAnswering: () => true });
  const signals = createPaymentSignals();
  const shared = {
    pool,
    db: pool,
    clock,
    gateway,
    references: createReferenceSealer(keyring),
    heartbeat,
    clockOffset: () => ({ ms: 0, uncertaintyMs: 0 }),
    confirmHistory: async () => {},
    log,
    alarms: createAlarms({ db: pool, clock, log }),
    signals,
    qrHosts: ['qr.nspk.ru', 'web.qr.nspk.ru'],
    rateMaxAgeSec: 300,
    quoteLock: defaultQuoteLock,
    rateBounds: { minE4: 400_000n, maxE4: 4_000_000n },
  };
  const payments = createPaymentParts(shared);
  const { writer, leaseRelease } = payments;
  const deps: ConsoleDeps & Pick<RecoverDeps, 'writer' | 'leaseRelease'> = {
    ...shared,
    pool: outside.console,
    db: outside.console,
    writer,
    leaseRelease,
    keyring,
    sender,
    vault: createVault(keyring),
    auditHeads: undefined,
    publicUrl: undefined,
    depositChains: [],
    depositScreenUrl: undefined,
    rateRefreshSec: 60,
    rateSources: [{ kind: 'fixed', name: 'fixed', rateE4: 925_000n }],
    rateSpreadBps: 100,
    webhookAllowPrivate: true,
    webhookRetryScheduleSec: [0, 10, 30],
    ...others,
  };
  const routes: ConsoleRoute[] = [];
  const server = await createServer({
    ...shared,
    ...payments,
    answerWithinMs: 5_000,
    requestLog,
    authenticator,
    trustProxy,
    rateLimiter: createRateLimiter(pool, clock),
    admission: createAdmission(500),
    signingKeys: createSigningKeys(pool, clock, keyring, log),
    metrics: new Registry(),
    console: async scope => {
      scope.addHook('onRoute', ({ method, url, config }) => {
        for (const one of [method].flat()) routes.push({ method: one, url, needs: config?.needs });
      });
      await createConsole(deps)(scope);
    },
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  afterAll(async () => {
    await server.close();
    await payments.close();
    await authenticator.close();
    await heartbeat.close();
    await gateway.close();
    await calls.stop();
    await requestLog.stop();
    await sender.close();
    await outside.close();
  });
  return {
    address,
    deps,
    server,
    /** All routes of the console. */
    routes,
    /** A browser that is signed in as a new operator with this role. */
    signIn: async (role: OperatorRole, name = `${role}-${Math.random().toString(36).slice(2, 8)}`) => {
      const { operatorId } = await insertOperator(pool, role, name, clock);
      const visitor = { address: '127.0.0.1', userAgent: 'test' };
      const { sessionId, token } = await openSession(pool, clock, operatorId, visitor);
      const client = browserAt(address);
      client.cookie = `__Host-kopeck=${token}`;
      await client.get('/session');
      return Object.assign(client, { name, role, operatorId, sessionId, token });
    },
    /** A browser that is not signed in. */
    visit: () => browserAt(address),
  };
}

export interface ConsoleRoute {
  method: string;
  url: string;
  needs: Permission | 'nothing' | undefined;
}

export interface ConsoleAnswer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field, and fails if it is missing
  json: any;
}

/** All rows of a list, page by page. */
export async function readPages(
  reader: { get(path: string): Promise<ConsoleAnswer> },
  path: string,
): Promise<ConsoleAnswer['json'][]> {
  const rows = [];
  for (let after = ''; ; ) {
    const { data, next_cursor } = (await reader.get(`${path}${after}`)).json;
    rows.push(...data);
    if (!next_cursor) return rows;
    after = `&after=${next_cursor}`;
  }
}

/** Expects this status, or this status and code of an error, as in `409 stale`. */
export async function answers(
  expected: number | string,
  call: Promise<Pick<ConsoleAnswer, 'status' | 'json'>>,
  about?: string,
) {
  const { status, json } = await call;
  expect(typeof expected === 'number' ? status : `${status} ${json?.error?.code}`, about).toBe(expected);
}

/** An answer that refuses. */
export const refusal = (status: number, code: string) => ({ status, json: { error: { code } } });

/** Calls `/console/api`, or another one, as the pages do: keeps the cookies and the CSRF token. */
export function browserAt(address: string, base = '/console/api') {
  const browser = {
    /** The cookie of the session. */
    cookie: undefined as string | undefined,
    /** The cookie of the device, from the first sign-in on. */
    device: undefined as string | undefined,
    csrfToken: undefined as string | undefined,
    async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const cookies = [browser.cookie, browser.device].filter(cookie => cookie !== undefined);
      const response = await fetch(`${address}${base}${path}`, {
        method,
        headers: {
          ...(cookies.length > 0 ? { cookie: cookies.join('; ') } : {}),
          ...(method === 'GET' ? {} : { origin: address }),
          ...(method !== 'GET' && browser.csrfToken ? { 'x-csrf-token': browser.csrfToken } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
      });
      for (const line of response.headers.getSetCookie()) {
        const [cookie] = line.split(';');
        browser[line.startsWith('__Host-kopeck-device=') ? 'device' : 'cookie'] = cookie;
      }
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      const answer: ConsoleAnswer = {
        status: response.status,
        headers: response.headers,
        text,
        json: isJson ? JSON.parse(text) : undefined,
      };
      if (answer.json?.csrf_token) browser.csrfToken = answer.json.csrf_token;
      return answer;
    },
    get: (path: string, headers?: Record<string, string>) => browser.call('GET', path, undefined, headers),
    post: (path: string, body?: unknown, headers?: Record<string, string>) =>
      browser.call('POST', path, body, headers),
  };
  return browser;
}
