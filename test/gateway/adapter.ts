import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalServer } from '../helpers/local-server.ts';

/** What authors of adapters get wrong, one at a time, and the checks that find it. */
export const mistakes = {
  'token not checked': ['missing token', 'wrong token'],
  'any token accepted': ['wrong token'],
  'void needs no token': ['missing token', 'wrong token'],
  '404 without a code': ['unknown order', 'void of an unknown order'],
  'void of an unknown order is 404': ['void of an unknown order'],
  'voids not stored': ['paying after void'],
  'accepted orders voided': ['void after paying', 'paying and void at once'],
  'void not locked': ['paying and void at once'],
  'every PUT is a new order': [
    'same order again',
    'same order at once',
    'same id, another amount',
    'void after paying',
    'reference',
    'orders in the list',
    'pages',
  ],
  'id not locked': ['same order at once', 'paying and void at once'],
  'busy for an id under way': ['same order at once'],
  'another amount is QR_CHANGED': ['same id, another amount'],
  'another amount is 500': ['same id, another amount'],
  'fingerprint not compared': ['changed QR code'],
  'fingerprint with a time': ['fingerprint'],
  'rubles in the list': ['orders in the list'],
  'rubles in orders': ['paying', 'same order at once', 'paying and void at once'],
  'amounts as texts': ['orders in the list'],
  'amounts of 32 bits': ['large amounts'],
  'amounts rounded': ['invalid amounts'],
  'invalid amounts are 500': ['invalid amounts'],
  'local times': ['times'],
  'clock ahead': ['times'],
  'newest first': ['times', 'pages'],
  'cursor is a time': ['pages'],
  'since is exclusive': ['pages'],
  'since ignored': ['since'],
  'limit ignored': ['pages'],
  'cursor without end': ['orders in the list', 'times', 'pages', 'since'],
  'voids listed': ['orders in the list'],
  'HTML content type': ['content type'],
  'slow resolve': ['response times'],
  'no reference': [],
  'reference cut': ['reference'],
  'reference replaced': ['reference'],
  'broken JSON is 500': ['malformed requests'],
  'unknown cursor starts again': ['malformed requests'],
  'unknown QR code is 500': ['unknown QR code'],
  'expiry in local time': ['reading the QR code'],
  'amount of the code in rubles': ['reading the QR code'],
  'no outcome': ['paying'],
  'declined, then succeeded': ['paying', 'same order at once'],
  'a repeated PUT is declined': ['same order again', 'same order at once'],
  'another state in the list': ['orders in the list'],
  'no refunds': [],
  'no operation number': [],
  'operation number with a space': ['operation number'],
  'another operation number': ['operation number'],
  'rubles in refunds': ['list of refunds'],
} satisfies Record<string, string[]>;
export type Mistake = keyof typeof mistakes;

const inRubles = { refund_id: 'r', payment_id: 'p', amount_kopecks: 1.5, created_at: '2026-11-15T10:00:00Z' };

interface Order {
  payment_id: string;
  order_id: string;
  state: string;
  reason: null;
  amount_kopecks: number;
  created_at: string;
  reference?: string;
}

type Fields = Record<string, unknown>;
type Answer = readonly [status: number, body: unknown];

export const adapterToken = 'token-of-the-adapter';
export const payableLink = 'https://qr.nspk.ru/AS100074QCPTCVTO8JM9NO8IDAIQPHPB?sum=1000&cur=RUB';
const codeKopecks = 1_000;
const fingerprint = 'f-1';
const rejected = (status: number, code: string): Answer => [status, { code }];

/** A small adapter that follows the contract, but for one mistake. */
export async function startAdapter(mistake?: Mistake): Promise<{ url: string }> {
  const has = (one: Mistake) => mistake === one;
  /** Seen only if two calls overlap, also on a busy machine. */
  const isRace = has('void not locked') || has('id not locked') || has('busy for an id under way');
  const orders: Order[] = [];
  const voided = new Set<string>();
  const locks = new Map<string, Promise<unknown>>();
  let numbered = 0;
  let resolved = 0;
  const now = () => Date.now() + (has('clock ahead') ? 3_600_000 : 0);
  const timeOf = (order: Order) => Date.parse(order.created_at.replace(/Z?$/, 'Z'));
  const find = (id: string) => orders.findLast(order => order.payment_id === id);

  /** Calls about one id one after another. */
  function locked(id: string, work: () => Promise<Answer>): Promise<Answer> {
    const turn = (locks.get(id) ?? Promise.resolve()).then(work);
    locks.set(id, turn);
    return turn;
  }

  const operationNumber = (order: Order) => {
    if (has('another operation number')) return { operation_number: `A${performance.now()}` };
    return has('no operation number')
      ? {}
      : { operation_number: `A${has('operation number with a space') ? ' ' : ''}${order.order_id}` };
  };
  const shown = (order: Order): object => ({
    ...order,
    ...operationNumber(order),
    amount_kopecks: has('rubles in orders') ? order.amount_kopecks / 100 : order.amount_kopecks,
  });

  async function resolve(body: Fields): Promise<Answer> {
    if (has('slow resolve') && body.qr_url === payableLink && resolved++ === 0) await sleep(3_300);
    if (typeof body.qr_url !== 'string') return rejected(400, 'BAD_REQUEST');
    if (body.qr_url !== payableLink)
      return has('unknown QR code is 500') ? rejected(500, 'NO_QR') : rejected(404, 'QR_CODE_NOT_FOUND');
    return [
      200,
      {
        ...{ qrc_id: 'AS100074QCPTCVTO8JM9NO8IDAIQPHPB', scenario: 'C2B', recipient: 'Shop', purpose: '' },
        recipient_id: 'MB1',
        amount_kopecks: has('amount of the code in rubles') ? 10.5 : codeKopecks,
        expires_at: has('expiry in local time') ? '2030-01-01 00:00:00' : null,
        fingerprint: has('fingerprint with a time') ? `${fingerprint}-${performance.now()}` : fingerprint,
      },
    ];
  }

  async function pay(id: string, body: Fields): Promise<Answer> {
    const known = find(id);
    if (known && !has('every PUT is a new order')) return again(known, body);
    if (voided.has(id)) return rejected(409, 'VOIDED');
    let amount = body.amount_kopecks as number;
    if (has('amounts of 32 bits') && Number.isInteger(amount))
      amount = Number(BigInt.asIntN(32, BigInt(amount)));
    if (has('amounts rounded')) amount = Math.trunc(amount);
    if (!Number.isInteger(amount) || amount < 1)
      return rejected(has('invalid amounts are 500') ? 500 : 400, 'BAD_AMOUNT');
    const isSame = has('fingerprint with a time')
      ? String(body.fingerprint).startsWith(fingerprint)
      : body.fingerprint === fingerprint;
    if (!isSame && !has('fingerprint not compared')) return rejected(409, 'QR_CHANGED');
    if (amount !== codeKopecks) return rejected(400, 'WRONG_AMOUNT');
    // The bank.
    await sleep(isRace ? 250 : 5);
    const order: Order = {
      ...{ payment_id: id, order_id: `o-${++numbered}`, state: has('no outcome') ? 'accepted' : 'succeeded' },
      ...{ reason: null, amount_kopecks: amount, created_at: new Date(now()).toISOString() },
    };
    const reference = String(body.reference);
    if (!has('no reference')) order.reference = has('reference cut') ? reference.slice(0, 255) : reference;
    if (has('local times')) order.created_at = order.created_at.slice(0, -1);
    if (has('cursor is a time')) order.created_at = order.created_at.replace(/\.\d+Z/, 'Z');
    if (has('id not locked')) orders.splice(0, Infinity, ...orders.filter(one => one.payment_id !== id));
    orders.push(order);
    return [200, has('declined, then succeeded') ? { ...shown(order), state: 'declined' } : shown(order)];
  }

  function again(known: Order, body: Fields): Answer {
    if (body.amount_kopecks !== known.amount_kopecks) {
      if (has('another amount is QR_CHANGED')) return rejected(409, 'QR_CHANGED');
      return rejected(has('another amount is 500') ? 500 : 409, 'ORDER_MISMATCH');
    }
    if (has('reference replaced')) known.reference = String(body.reference);
    // As a bank that calls the repeat a duplicate.
    return [200, has('a repeated PUT is declined') ? { ...shown(known), state: 'declined' } : shown(known)];
  }

  async function voidOrder(id: string): Promise<Answer> {
    const known = find(id);
    if (known && !has('accepted orders voided')) return [200, shown(known)];
    if (has('void of an unknown order is 404')) return rejected(404, 'ORDER_UNKNOWN');
    if (!has('voids not stored')) voided.add(id);
    if (has('voids listed')) {
      const created_at = new Date(now()).toISOString();
      const order = { payment_id: id, order_id: `o-${++numbered}`, state: 'declined', reason: null };
      hidden.push({ ...order, created_at, amount_kopecks: codeKopecks });
    }
    return [200, { state: 'voided' }];
  }
  const hidden: Order[] = [];

  function list(query: URLSearchParams): Answer {
    const since = has('since ignored') ? 0 : Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z');
    const limit = has('limit ignored') ? 1_000 : Number(query.get('limit') ?? 100);
    const cursor = query.get('cursor');
    const isCursor = cursor === null || /^\d+$/.test(cursor);
    if (!isCursor && !has('unknown cursor starts again')) return rejected(400, 'BAD_CURSOR');
    const start = isCursor ? Number(cursor ?? 0) : 0;
    const isSince = (order: Order) =>
      has('since is exclusive') ? timeOf(order) > since : timeOf(order) >= since;
    const all = [...orders, ...hidden].filter(isSince);
    if (has('newest first')) all.reverse();
    const rest = has('cursor is a time')
      ? all.filter(order => cursor === null || timeOf(order) > start)
      : all.slice(start);
    const page = rest.slice(0, limit);
    const end = has('cursor is a time')
      ? timeOf(page.at(-1) ?? ({ created_at: '' } as Order))
      : start + page.length;
    const isLast = rest.length <= limit && !has('cursor without end');
    return [200, { orders: page.map(listed), next_cursor: isLast ? null : `${end}` }];
  }

  function listed(order: Order): object {
    if (has('rubles in the list')) return { ...order, amount_kopecks: order.amount_kopecks / 100 };
    if (has('another state in the list')) return { ...order, state: 'accepted' };
    return has('amounts as texts') ? { ...order, amount_kopecks: `${order.amount_kopecks}` } : order;
  }

  const underWay = new Set<string>();
  async function place(id: string, body: Fields): Promise<Answer> {
    if (has('id not locked')) return pay(id, body);
    if (has('busy for an id under way') && underWay.has(id)) return rejected(429, 'BUSY');
    underWay.add(id);
    return locked(id, () => pay(id, body)).finally(() => underWay.delete(id));
  }

  async function answer(method: string, url: URL, text: string, authorization?: string): Promise<Answer> {
    const [, id = '', action] = /^\/orders\/([\w-]+)(\/void)?$/.exec(url.pathname) ?? [];
    const isOpen = has('token not checked') || (has('void needs no token') && action !== undefined);
    const isRight = has('any token accepted')
      ? authorization !== undefined
      : authorization === `Bearer ${adapterToken}`;
    if (!isOpen && !isRight) return rejected(401, 'UNAUTHORIZED');
    let body: Fields;
    try {
      body = text === '' ? {} : JSON.parse(text);
    } catch {
      return has('broken JSON is 500') ? rejected(500, 'INTERNAL') : rejected(400, 'BAD_REQUEST');
    }
    if (url.pathname === '/qr/resolve') return resolve(body);
    if (url.pathname === '/orders') return list(url.searchParams);
    if (url.pathname === '/refunds' && !has('no refunds'))
      return [200, { refunds: has('rubles in refunds') ? [inRubles] : [], next_cursor: null }];
    if (action) return has('void not locked') ? voidOrder(id) : locked(id, () => voidOrder(id));
    if (method === 'PUT') return place(id, body);
    const order = find(id);
    if (order) return [200, shown(order)];
    return has('404 without a code') ? [404, { message: 'Not found' }] : rejected(404, 'ORDER_UNKNOWN');
  }

  const server = await startLocalServer();
  server.answer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url ?? '', 'http://adapter');
    const text = Buffer.concat(chunks).toString();
    const [status, body] = await answer(request.method ?? '', url, text, request.headers.authorization);
    const type = has('HTML content type') ? 'text/html' : 'application/json';
    response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
  });
  return server;
}
