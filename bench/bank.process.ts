/**
 * The gateway of the bench: resolves every code and pays every order, at once or after a set time. It measures its own
 * answers, from the last byte of a request to the first byte of the answer. It keeps no orders, so it cannot be polled.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './median.ts';
import { answer, serveTiny, type TinyRequest } from './tiny-server.ts';

let payDelayMs = 0;
let orders = 0;
let times = { resolve: [] as number[], pay: [] as number[] };

const recipients = ['Coffee shop', 'Bookshop', 'Pharmacy', 'Bakery', 'Flowers', 'Grocery', 'Car wash'];

function resolve(body: string): string {
  const [, code = '', kopecks = ''] = /nspk\.ru\/(\w+)\?[^"]*\bsum=(\d+)/.exec(body) ?? [];
  const shop = code.charCodeAt(code.length - 1) % recipients.length;
  return answer(
    `{"qrc_id":"${code}","scenario":"C2B","recipient":"${recipients[shop]}","recipient_id":"MB000012345${shop}",` +
      `"amount_kopecks":${kopecks},"purpose":"Order","expires_at":null,"fingerprint":"fingerprint-of-the-bench"}`,
  );
}

function pay(body: string): string {
  const kopecks = /"amount_kopecks":(\d+)/.exec(body)?.[1];
  orders += 1;
  return answer(
    `{"order_id":"ord_${orders}","state":"succeeded","reason":null,"amount_kopecks":${kopecks},"created_at":"${new Date().toISOString()}"}`,
  );
}

async function payLater(body: string): Promise<string> {
  const startedAt = performance.now();
  await sleep(payDelayMs);
  times.pay.push(performance.now() - startedAt);
  return pay(body);
}

function timed(kind: keyof typeof times, work: () => string): string {
  const startedAt = performance.now();
  const answered = work();
  times[kind].push(performance.now() - startedAt);
  return answered;
}

/** `GET /reset?pay_ms=200` sets the time of a payment and forgets what was measured. */
function reset(head: string): string {
  payDelayMs = Number(/pay_ms=(\d+)/.exec(head)?.[1] ?? 0);
  times = { resolve: [], pay: [] };
  return answer('{}');
}

const report = () =>
  answer(
    JSON.stringify({
      orders: times.pay.length,
      resolveP50Ms: median(times.resolve),
      payP50Ms: median(times.pay),
    }),
  );

serveTiny(({ head, body }: TinyRequest) => {
  if (head.startsWith('PUT /orders/')) return payDelayMs > 0 ? payLater(body) : timed('pay', () => pay(body));
  if (head.startsWith('POST /qr/resolve')) return timed('resolve', () => resolve(body));
  if (head.startsWith('GET /orders?')) return answer('{"orders":[],"next_cursor":null}');
  if (head.startsWith('GET /reset')) return reset(head);
  if (head.startsWith('GET /times')) return report();
  return answer('{}', '501 Not Implemented');
});
