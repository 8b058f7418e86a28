import type { LookupAddress } from 'node:dns';
import { afterAll, expect, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createSender, type SenderOptions, type WebhookRequest } from '../../src/webhooks/http/sender.ts';

export const body = JSON.stringify({ id: 'evt_1', text: 'Кофейня' });
export const headers = { 'content-type': 'application/json', 'x-service-event': 'payment.succeeded' };
export const sendingTo = (url: string): WebhookRequest => ({ url, headers, body });
export const local = (port: number, path = '/hook?a=1') => sendingTo(`http://127.0.0.1:${port}${path}`);

/** Connections have a time-out of their own, which runs in real time: no machine is so slow. */
export const beyondReach = 60_000;

export function senderWith(options: Partial<SenderOptions> = {}) {
  const sender = createSender({ clock: systemClock, allowPrivate: true, timeoutMs: beyondReach, ...options });
  onTestFinished(() => sender.close());
  return sender;
}

export const leadsTo =
  (...ips: string[]) =>
  async (): Promise<LookupAddress[]> =>
    ips.map(address => ({ address, family: address.includes(':') ? 6 : 4 }));

export const answered = (status: number) => ({ outcome: 'answered', status, durationMs: expect.any(Number) });
export const failed = (error: string) => ({ outcome: 'failed', error, durationMs: expect.any(Number) });
export const head = 'HTTP/1.1 200 OK\r\n';

/** An uncaught exception would end the service, so the test file fails for it. */
export function expectNothingUncaught(): void {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', note).on('unhandledRejection', note);
  afterAll(() => {
    process.off('uncaughtException', note).off('unhandledRejection', note);
    expect(uncaught).toEqual([]);
  });
}
