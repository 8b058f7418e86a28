import { randomUUID } from 'node:crypto';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import { afterAll, expect } from 'vitest';
import { createAlarms } from '../../src/alarms/index.ts';
import { type ApiDeps, createAdmission, createServer } from '../../src/api/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type QuoteLockSettings, readQuoteLock } from '../../src/base/quote-settings.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { startHeartbeat } from '../../src/db/processes/heartbeat.ts';
import { createHttpGateway } from '../../src/gateway/index.ts';
import { createAuthenticator, createRateLimiter } from '../../src/partners/index.ts';
import {
  createPaymentMetrics,
  createPaymentParts,
  createPaymentSignals,
  createReferenceSealer,
} from '../../src/payments/index.ts';
import { createSigningKeys } from '../../src/webhooks/index.ts';
import type { ManualClock } from './clock.ts';
import { createPartnerWithKeys, keyring } from './partners.ts';

export { createPartnerWithKeys, issueKey, keyring, secretKey, setRate } from './partners.ts';

/** Time-outs run in real time, and a busy machine must not reach them. */
export const patient = { resolveTimeoutMs: 100_000, payTimeoutMs: 100_000, pollTimeoutMs: 100_000 };

/** As without any setting. */
export const defaultQuoteLock = readQuoteLock(() => undefined);

export interface ApiOptions {
  pool: Pool;
  clock?: typeof systemClock;
  /** Address of the bank side; without one, live payments cannot reach a gateway. */
  gatewayUrl?: string;
  answerWithinMs?: number;
  payTimeoutMs?: number;
  trustProxy?: string[];
  qrHosts?: string[];
  maxBeforeDebit?: number;
  telegramReceiver?: NonNullable<ApiDeps['telegramReceiver']>;
  confirmHistory?: ApiDeps['confirmHistory'];
  requestLog?: NonNullable<ApiDeps['requestLog']>;
  chains?: NonNullable<ApiDeps['chains']>;
  quoteLock?: Partial<QuoteLockSettings>;
  portal?: (server: FastifyInstance, deps: ApiDeps) => Promise<void>;
  supportUrl?: string;
}

/** The API on a real port of this process, so that a test can control its clock. */
export async function startApi({ pool, clock = systemClock, ...options }: ApiOptions) {
  const gateway = createHttpGateway({
    url: options.gatewayUrl ?? 'http://127.0.0.1:1',
    token: undefined,
    clock: systemClock,
    ...patient,
    ...(options.payTimeoutMs ? { payTimeoutMs: options.payTimeoutMs } : {}),
  });
  const authenticator = createAuthenticator(pool, clock, keyring);
  const heartbeat = await startHeartbeat({ pool, clock: systemClock });
  const log = { warn: (_details: object) => {}, error: (_details: object) => {} };
  const signals = createPaymentSignals();
  const metrics = new Registry();
  const paymentMetrics = createPaymentMetrics(metrics);
  const quoteLock = { ...defaultQuoteLock, ...options.quoteLock };
  const payments = createPaymentParts({
    pool,
    db: pool,
    clock,
    signals,
    heartbeat,
    paymentMetrics,
    quoteLock,
  });
  const deps = {
    ...payments,
    pool,
    db: pool,
    clock,
    clockOffset: () => ({ ms: 0, uncertaintyMs: 0 }),
    gateway,
    references: createReferenceSealer(keyring),
    authenticator,
    rateLimiter: createRateLimiter(pool, clock),
    admission: createAdmission(options.maxBeforeDebit ?? 500),
    signingKeys: createSigningKeys(pool, clock, keyring, log),
    signals,
    qrHosts: options.qrHosts ?? ['qr.nspk.ru', 'web.qr.nspk.ru'],
    rateMaxAgeSec: 300,
    answerWithinMs: options.answerWithinMs ?? 5_000,
    trustProxy: options.trustProxy ?? [],
    telegramReceiver: options.telegramReceiver,
    portal: options.portal && ((server: FastifyInstance): Promise<void> => options.portal!(server, deps)),
    supportUrl: options.supportUrl,
    requestLog: options.requestLog,
    heartbeat,
    confirmHistory: options.confirmHistory ?? (async () => {}),
    metrics,
    paymentMetrics,
    ...(options.chains ? { chains: options.chains } : {}),
    alarms: createAlarms({ db: pool, clock, log }),
    log,
  };
  const server = await createServer(deps);
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  documentOfThisProcess ??= JSON.parse(JSON.stringify(server.swagger())) as OpenApi;
  documents.set(address, documentOfThisProcess);
  afterAll(async () => {
    // With a clock of the test, the pause after which connections without a request are closed would not end.
    await ('during' in clock ? (clock as ManualClock).during(server.close()) : server.close());
    await payments.close();
    await authenticator.close();
    await heartbeat.close();
    await gateway.close();
  });
  /** It calls with its key of test mode, and as `live` with the other one. */
  const newPartner = async (liveMicroUsdt?: bigint) => {
    const keys = await createPartnerWithKeys(pool, liveMicroUsdt);
    return { ...keys, ...partnerAt(address, keys.testKey), live: partnerAt(address, keys.liveKey) };
  };
  return { address, deps, newPartner };
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field, and fails if it is missing
  json: any;
}

/** `200 succeeded`, `409 qr_changed`, or `200 ok` if it is no payment. */
export const codeOf = ({ status, json }: Answer) => `${status} ${json.status ?? json.error?.code ?? 'ok'}`;

/** The only objection is to what is at this place. */
export const expectMalformed = ({ status, json }: Answer, ...loc: (string | number)[]) =>
  expect({ status, detail: json.detail }).toMatchObject({ status: 422, detail: [{ loc }] });

export interface CallOptions {
  body?: unknown;
  /** Sent as it is. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

/** Calls the API as a partner; every answer is validated against the OpenAPI document that the service serves. */
export function partnerAt(address: string, key: string) {
  const call = async (
    method: string,
    path: string,
    { body, raw, headers = {} }: CallOptions = {},
  ): Promise<Answer> => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body || raw ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(raw === undefined ? {} : { body: raw }),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
    await expectDocumented(address, method, path, answer);
    return answer;
  };
  return {
    get: (path: string, options?: CallOptions) => call('GET', path, options),
    post: (path: string, options?: CallOptions) => call('POST', path, options),
    call,
    /** `POST /v1/payments` with a fresh idempotency key unless one is given. */
    pay: (body: object, idempotencyKey: string = randomUUID()) =>
      call('POST', '/v1/payments', { body, headers: { 'idempotency-key': idempotencyKey } }),
  };
}

/** OpenAPI documents by address; equal documents share one object, and so their compiled validators. */
const documents = new Map<string, OpenApi | Promise<OpenApi>>();
const byText = new Map<string, OpenApi>();
/** Every server of this process has the same: it is made once. */
let documentOfThisProcess: OpenApi | undefined;

interface OpenApi {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content: Record<string, { schema: object }> }> }>
  >;
  components: object;
}

async function expectDocumented(
  address: string,
  method: string,
  path: string,
  answer: Answer,
): Promise<void> {
  const requestId = answer.headers.get('x-request-id');
  expect(requestId).toMatch(/^req_[0-7][0-9a-z]{25}$/);
  const inBody = answer.json.error?.request_id ?? answer.json.request_id;
  if (inBody !== undefined) expect(inBody).toBe(requestId);
  if (!documents.has(address))
    documents.set(
      address,
      fetch(`${address}/openapi.json`)
        .then(response => response.text())
        .then(text => {
          if (!byText.has(text)) byText.set(text, JSON.parse(text));
          return byText.get(text)!;
        }),
    );
  const document = await documents.get(address)!;
  const [bare = ''] = path.split('?');
  const template = document.paths[bare]
    ? bare
    : bare.replace(/^\/v1\/payments\/[^/]+$/, '/v1/payments/{payment_id}');
  const operation = document.paths[template]?.[method.toLowerCase()];
  if (!operation) return expect(answer.status, `${method} ${path} is not documented`).toBe(404);
  const documented = operation.responses[answer.status];
  expect(documented, `${method} ${path} may not answer ${answer.status}: ${answer.text}`).toBeDefined();
  const validate = validators.get(documented!) ?? compile(documented!, document);
  validators.set(documented!, validate);
  expect(validate(answer.json), `${answer.text} ${JSON.stringify(validate.errors)}`).toBe(true);
}

const validators = new WeakMap<object, ValidateFunction>();
function compile(documented: { content: Record<string, { schema: object }> }, { components }: OpenApi) {
  return validatorOf(documented.content['application/json']!.schema, components);
}

// One for all: each compiles the schema of schemas first.
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

/** Of a schema of the document; a field that it does not have is an error. */
export const validatorOf = (schema: object, components: object): ValidateFunction =>
  ajv.compile(closed({ $ref: '#/answer', answer: schema, components }));

/** The same schema without additional properties: an undocumented field in an answer is an error. */
function closed(schema: unknown): object {
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.type === 'object' && value.properties && value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  );
}

/** A valid link with a new QR code over this amount. */
export function newLink(kopecks?: number): string {
  const id = `AD${randomUUID().replaceAll('-', '').toUpperCase().slice(0, 30)}`;
  return `https://qr.nspk.ru/${id}${kopecks === undefined ? '' : `?type=02&sum=${kopecks}&cur=RUB`}`;
}
