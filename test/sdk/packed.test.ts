import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { sign } from '../../src/webhooks/delivery/signatures.ts';
import { openBrowser } from '../browser/chromium.ts';
import { createPartnerWithKeys, newLink, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { listen } from '../helpers/local-server.ts';
import { install, pack, root, run, runtimes } from './packed.ts';

const project = install(pack());
const installed = join(project, 'node_modules/kopeck-client');

test('has what is needed and nothing else', () => {
  expect(readdirSync(join(project, 'node_modules')).filter(name => !name.startsWith('.'))).toEqual([
    'kopeck-client',
  ]);
  expect(readdirSync(installed).sort()).toEqual([
    'LICENSE',
    'README.md',
    'README.ru.md',
    'dist',
    'package.json',
  ]);
  const files = readdirSync(join(installed, 'dist'));
  for (const name of files) {
    const text = readFileSync(join(installed, 'dist', name), 'utf8');
    expect(text, name).not.toMatch(/(from|import\() ?['"][^.]/);
    expect(text, name).not.toMatch(/\.ts['"]/);
  }
  const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const { types, default: code } of Object.values<{ types: string; default: string }>(exports))
    for (const path of [types, code]) expect(files).toContain(path.replace('./dist/', ''));
});

const consumer = `
import { Kopeck, KopeckError, type Payment, PaymentRefusedError, type PaymentEvent, verifyWebhook } from 'kopeck-client';
import { kopeckWebhook as forExpress } from 'kopeck-client/express';
import { kopeckWebhook as forFastify } from 'kopeck-client/fastify';
import { kopeckWebhook as forHono } from 'kopeck-client/hono';
import { kopeckWebhook as forNext } from 'kopeck-client/next';

const kopeck = new Kopeck({
  apiKey: 'svc_test_a_b',
  baseUrl: 'http://localhost',
  fetch: globalThis.fetch,
  keys: { get: async id => (id === 'x' ? 'y' : undefined), set: async () => {} },
});

export async function pay(): Promise<Payment | undefined> {
  try {
    const payment = await kopeck.payments.createAndWait({ qr_url: 'https://qr', amount_rub: '1.00' }, { waitMs: 1 });
    const status: 'processing' | 'succeeded' | 'failed' = payment.status;
    // @ts-expect-error: there is no such status
    if (status === 'refunded') return undefined;
    return payment;
  } catch (error) {
    if (error instanceof PaymentRefusedError) return error.requiredUsdt === '1' ? undefined : undefined;
    if (error instanceof KopeckError && error.retryable) return pay();
    throw error;
  }
}

// @ts-expect-error: a payment needs a code
kopeck.payments.create({ amount_rub: 1 });

export async function read(): Promise<void> {
  for await (const payment of kopeck.payments.list({ status: 'failed', created_after: new Date() })) payment.id;
  for await (const event of kopeck.events.read({ from: 'evt_1' })) event.data.amount_rub;
  const text: string = await kopeck.statement({ day: '2026-11-15', format: 'csv' });
  const books = await kopeck.statement({ day: '2026-11-15' });
  text + books.digest;
}

const secret = 'whsec';
const onEvent = (event: PaymentEvent) => void event.data.status;
export const handlers = [forExpress({ secret, onEvent }), forFastify, forHono({ secret, onEvent })];
export const POST: (request: Request) => Promise<Response> = forNext({ secret, onEvent });
export const checked: Promise<PaymentEvent> = verifyWebhook(new Uint8Array(), 't=1', [secret, 'old']);
`;

describe('the type checker', () => {
  writeFileSync(join(project, 'consumer.ts'), consumer);
  const strict = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: 'es2022' };
  const node = { lib: ['es2022'], types: ['node'], typeRoots: [join(root, 'node_modules/@types')] };
  const web = { lib: ['es2022', 'dom', 'dom.asynciterable'], types: [] };
  test.each([
    ['nodenext, with the types of Node', { module: 'nodenext', ...node }],
    ['bundler, with those of browsers', { module: 'esnext', moduleResolution: 'bundler', ...web }],
  ])('is content: %s', (_name, options) => {
    const config = { compilerOptions: { ...strict, ...options }, files: ['consumer.ts'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    run('tsc', ['-p', '.'], project);
  });
});

const script = `
import { Kopeck, SignatureError, verifyWebhook } from 'kopeck-client';
const { KEY, URL: baseUrl, QR, BODY, HEADER, SECRET } = process.env;
const kopeck = new Kopeck({ apiKey: KEY, baseUrl });
const payment = await kopeck.payments.createAndWait({ qr_url: QR, external_id: 'packed' });
const listed = [];
for await (const { id } of kopeck.payments.list({ limit: 1 })) listed.push(id);
const event = await verifyWebhook(BODY, HEADER, SECRET);
const forged = await verifyWebhook(BODY + ' ', HEADER, SECRET).catch(error => error);
console.log(JSON.stringify({
  node: process.versions.node.split('.')[0],
  status: payment.status,
  listed: listed.includes(payment.id),
  event: event.id,
  forged: forged instanceof SignatureError && forged.code,
}));
`;

describe('installed in an empty project', async () => {
  const { pool } = await createDatabase();
  await setRate(pool);
  const { address } = await startApi({ pool });
  writeFileSync(join(project, 'script.js'), script);

  test.each(runtimes())('pays and verifies on Node $version', async ({ version, path }) => {
    const { testKey } = await createPartnerWithKeys(pool);
    const body = '{"id":"evt_1","event":"payment.succeeded"}';
    const env = {
      KEY: testKey,
      URL: address,
      QR: newLink(10_000),
      BODY: body,
      HEADER: sign(['whsec'], Math.floor(Date.now() / 1_000), body),
      SECRET: 'whsec',
    };
    // Not the blocking way: the service is in this process.
    const { stdout } = await promisify(execFile)(path, ['script.js'], { cwd: project, env });
    const expected = { status: 'succeeded', listed: true, event: 'evt_1', forged: 'signature_mismatch' };
    expect(JSON.parse(stdout)).toEqual({ node: version, ...expected });
  });
});

const browser = await openBrowser();

const worker = `
import { verifyWebhook } from '/dist/index.js';
onmessage = async ({ data: { body, header, secret } }) =>
  postMessage(await verifyWebhook(body, header, secret).then(event => event.id, error => error.code));
`;

test.skipIf(!browser)('the verifier works in a worker of a browser', async () => {
  const address = await listen(({ url = '' }, response) => {
    const isFile = /^\/dist\/[\w.-]+\.js$/.test(url);
    const type = url === '/' ? 'text/html' : 'text/javascript';
    const text = isFile ? readFileSync(join(installed, url), 'utf8') : url === '/worker.js' ? worker : '';
    response.writeHead(200, { 'content-type': type }).end(text);
  });

  const page = await browser!.newPage();
  await page.goto(`${address}/`);
  const body = '{"id":"evt_1","data":{"recipient":"ООО «Ромашка»"}}';
  const header = sign(['whsec'], Math.floor(Date.now() / 1_000), body);
  const bytes = [...new TextEncoder().encode(body)];
  const ask = (message: { body: string | number[]; header: string; secret: string }) =>
    page.evaluate(`new Promise((resolve, reject) => {
      const { body, ...rest } = ${JSON.stringify(message)};
      const worker = new Worker('/worker.js', { type: 'module' });
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = reject;
      worker.postMessage({ body: Array.isArray(body) ? Uint8Array.from(body) : body, ...rest });
    })`);
  expect(await ask({ body, header, secret: 'whsec' })).toBe('evt_1');
  expect(await ask({ body: bytes, header, secret: 'whsec' })).toBe('evt_1');
  expect(await ask({ body: `${body} `, header, secret: 'whsec' })).toBe('signature_mismatch');
  expect(await ask({ body, header, secret: 'other' })).toBe('signature_mismatch');
});
