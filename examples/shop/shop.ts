import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { kopeckWebhook } from '../../sdk/src/fastify.ts';
import type { Kopeck } from '../../sdk/src/index.ts';
import type { Order, Orders } from './orders.ts';
import { orderPage, shopPage, view } from './pages.ts';
import { createPayments } from './payments.ts';
import { products } from './products.ts';
import { newQrLink } from './qr-link.ts';

export interface ShopOptions {
  kopeck: Kopeck;
  orders: Orders;
  /** Signs the webhooks. Without one, the shop reads the feed of events instead. */
  webhookSecret: string | undefined;
  /** How often open orders are checked. */
  checkEveryMs?: number;
}

export const webhookPath = '/kopeck';

const files = { 'shop.css': 'text/css', 'order.js': 'text/javascript' };

export function createShop(options: ShopOptions): FastifyInstance {
  const { kopeck, orders, webhookSecret } = options;
  const app = fastify({ forceCloseConnections: true });
  const payments = createPayments(kopeck, orders);

  app.addHook('onSend', async (_request, reply) => {
    reply.headers({
      'content-security-policy':
        "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
    });
  });
  // The body of a form. Ours are empty: the URL has everything.
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, async () => ({}));
  for (const [name, type] of Object.entries(files))
    app.get(`/${name}`, (_request, reply) =>
      reply.type(type).send(createReadStream(join(import.meta.dirname, 'public', name))),
    );
  catalogRoutes(app, orders);
  orderRoutes(app, options, payments);
  changesRoute(app, orders);
  if (webhookSecret)
    app.register(kopeckWebhook, {
      path: webhookPath,
      secret: webhookSecret,
      onEvent: event => payments.onEvent(event, 'webhook'),
    });
  runInBackground(app, options, payments);
  return app;
}

type Payments = ReturnType<typeof createPayments>;
type OfOrder = { Params: { id: string } };

const html = (reply: FastifyReply, text: string) => reply.type('text/html; charset=utf-8').send(text);
const complain = (error: unknown) => console.error(error);

function catalogRoutes(app: FastifyInstance, orders: Orders): void {
  app.get('/', (_request, reply) => html(reply, shopPage(products, orders.newest(5))));

  app.post<{ Params: { product: string } }>('/buy/:product', async (request, reply) => {
    const product = products.find(({ id }) => id === request.params.product);
    if (!product) return reply.callNotFound();
    const { name, amount_rub } = product;
    const order = await orders.create({ product: name, amount_rub, qr_url: newQrLink(amount_rub) });
    return reply.redirect(`/orders/${order.id}`, 303);
  });
}

function orderRoutes(app: FastifyInstance, { kopeck, orders }: ShopOptions, payments: Payments): void {
  app.get<OfOrder>('/orders/:id', async (request, reply) => {
    const order = orders.find(request.params.id);
    if (!order) return reply.callNotFound();
    await payments.holdPrice(order);
    return html(reply, orderPage(order));
  });

  app.post<OfOrder>('/orders/:id/pay', async (request, reply) => {
    const order = orders.find(request.params.id);
    if (!order) return reply.callNotFound();
    // An answer may take a minute and a half; the page does not wait for it here.
    payments.start(order).catch(complain);
    return reply.code(202).send(view(order));
  });

  /** The test clock exists only in test mode. */
  app.post<OfOrder>('/orders/:id/hurry', async (request, reply) => {
    if (!orders.find(request.params.id)) return reply.callNotFound();
    await kopeck.test.clock.advance({ seconds: 30 });
    return reply.code(202).send({});
  });
}

/** Server-sent events: the page follows its order without polling. */
function changesRoute(app: FastifyInstance, orders: Orders): void {
  app.get<OfOrder>('/orders/:id/changes', (request, reply) => {
    const order = orders.find(request.params.id);
    if (!order) return reply.callNotFound();
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const send = (changed: Order) => reply.raw.write(`data: ${JSON.stringify(view(changed))}\n\n`);
    // The current state first: the page may be outdated.
    send(order);
    reply.raw.on('close', orders.watch(order.id, send));
  });
}

/** Checks open orders now and then; without a webhook it also reads the event feed. */
function runInBackground(
  app: FastifyInstance,
  { kopeck, webhookSecret, checkEveryMs = 30_000 }: ShopOptions,
  payments: Payments,
): void {
  const background = new AbortController();

  /** The same events for a shop without a public URL. Read from the first one: handling an event twice is harmless. */
  async function readFeed(): Promise<void> {
    for await (const event of kopeck.events.read({ signal: background.signal, pollMs: 1_000 }))
      await payments.onEvent(event, 'feed');
  }

  app.addHook('onListen', async () => {
    if (!webhookSecret) readFeed().catch(complain);
    const check = () => void payments.checkOpenOrders().catch(complain);
    check();
    const checking = setInterval(check, checkEveryMs);
    background.signal.addEventListener('abort', () => clearInterval(checking));
  });
  app.addHook('preClose', async () => background.abort());
}
