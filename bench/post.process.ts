/** The minimal cost of a delivery: the same bytes posted with undici, with the same concurrency. */
import { Agent, request } from 'undici';

const [url = '', count = '0', concurrency = '0', bytes = '0'] = process.argv.slice(2);
const body = `{"created_at":"2026-11-15T10:00:00.000000+00:00","x":"${'x'.repeat(Number(bytes))}"}`;
const headers = {
  'content-type': 'application/json',
  'x-service-event': 'payment.succeeded',
  'x-service-delivery': 'whd_01m7f4cfdde008nqv5pq6zjbex',
  'x-service-payment-id': 'pay_01m7f4cfdde008nqv5pq6zjbex',
  'x-service-signature': `t=1794720488,v1=${'a'.repeat(64)}`,
};
const dispatcher = new Agent({ connections: Number(concurrency) });
let left = Number(count);

async function post(): Promise<void> {
  while (left-- > 0) {
    const response = await request(url, { method: 'POST', headers, body, dispatcher });
    await response.body.dump();
  }
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: Number(concurrency) }, post));
console.log(JSON.stringify({ perSecond: (Number(count) / (performance.now() - startedAt)) * 1_000 }));
await dispatcher.close();
