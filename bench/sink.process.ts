/** Webhook receiver that accepts everything and counts deliveries by id. */
import { answer, serveTiny, type TinyRequest } from './tiny-server.ts';

const seen = new Set<string>();
let repeated = 0;
let firstAtMs = 0;
let lastAtMs = 0;

const accepted = answer('');

function reset(): string {
  seen.clear();
  repeated = 0;
  firstAtMs = 0;
  return accepted;
}

function countDelivery(head: string): string {
  const id = /\r\nx-service-delivery: ([^\r]+)/i.exec(head)?.[1];
  if (!id) throw new Error(`a request without the id of a delivery: ${head}`);
  if (seen.has(id)) repeated += 1;
  else {
    seen.add(id);
    lastAtMs = Date.now();
    firstAtMs ||= lastAtMs;
  }
  return accepted;
}

serveTiny(({ head }: TinyRequest) => {
  if (head.startsWith('GET /arrivals')) {
    return answer(JSON.stringify({ events: seen.size, repeated, firstAtMs, lastAtMs }));
  }
  return head.startsWith('GET /reset') ? reset() : countDelivery(head);
});
