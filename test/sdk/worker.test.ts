import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sign } from '../../src/webhooks/delivery/sign.ts';
import { openBrowser } from '../browser/chromium.ts';
import { install, pack } from './packed.ts';

const browser = await openBrowser();

const worker = `
import { verifyWebhook } from '/dist/index.js';
onmessage = async ({ data: { body, header, secret } }) =>
  postMessage(await verifyWebhook(body, header, secret).then(event => event.id, error => error.code));
`;

test.skipIf(!browser)('the verifier works in a worker of a browser', async () => {
  const installed = join(install(pack()), 'node_modules/kopeck-client');
  const server = createServer(({ url = '' }, response) => {
    const isFile = /^\/dist\/[\w.-]+\.js$/.test(url);
    const type = url === '/' ? 'text/html' : 'text/javascript';
    const text = isFile ? readFileSync(join(installed, url), 'utf8') : url === '/worker.js' ? worker : '';
    response.writeHead(200, { 'content-type': type }).end(text);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());

  const page = await browser!.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
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
