import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ConnectionError, Kopeck } from '../../sdk/src/index.ts';
import { checkWebhook, findTestKey, setWebhook } from './local-service.ts';
import { openOrders } from './orders.ts';
import { createShop, webhookPath } from './shop.ts';

const {
  KOPECK_URL: baseUrl = 'http://127.0.0.1:8080',
  KOPECK_KEY: givenKey,
  KOPECK_WEBHOOK_SECRET: givenSecret,
  PORT: anyPort = '3001',
  SHOP_PORT: port = anyPort,
  DATA_DIR: dataDir = './data',
} = process.env;

/** With your own key: that key, and the event feed unless you have a webhook. Without: a partner created for this shop. */
async function getAccess(dir: string, url: string) {
  if (givenKey) return { key: givenKey, secret: givenSecret, partnerId: undefined };
  const { partnerId, key } = await findTestKey(join(dir, 'key.json'), baseUrl);
  return { key, secret: await setWebhook(partnerId, `${url}${webhookPath}`), partnerId };
}

/** Before anything is created: a shop that cannot open must leave no partner behind. */
async function requireFreePort(): Promise<void> {
  const server = createServer().listen(Number(port), '127.0.0.1');
  await once(server, 'listening');
  await new Promise(resolve => server.close(resolve));
}

async function main(): Promise<void> {
  await requireFreePort();
  const dir = join(dataDir, 'shop');
  await mkdir(dir, { recursive: true });
  const url = `http://127.0.0.1:${port}`;
  const { key, secret, partnerId } = await getAccess(dir, url);
  if (!key.startsWith('svc_test_')) throw new Error('This shop uses sample bills: use a test key only.');
  const orders = await openOrders(join(dir, 'orders.json'));
  const kopeck = new Kopeck({ apiKey: key, baseUrl, keys: orders.keys });
  await kopeck.ping();
  const shop = createShop({ kopeck, orders, webhookSecret: secret });
  await shop.listen({ host: '127.0.0.1', port: Number(port) });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void shop.close());
  if (partnerId) await checkWebhook(partnerId);
  console.log(`The shop is open at ${url}`);
  console.log(
    `It receives payment events ${secret ? `by webhook at ${webhookPath}` : 'from the event feed'}.`,
  );
}

function explain(error: NodeJS.ErrnoException): string {
  if (error instanceof ConnectionError)
    return `There is no service at ${baseUrl}: start it first with npm start.`;
  if (error.code === 'EADDRINUSE')
    return `Port ${port} is in use: stop the program that has it, or set SHOP_PORT to another.`;
  return error.message;
}

await main().catch(error => {
  console.error(explain(error));
  process.exitCode = 1;
});
