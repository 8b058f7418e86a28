import { vi } from 'vitest';
import { type Fetch, Kopeck, type KopeckOptions, SignatureError } from '../../sdk/src/index.ts';

export const payment = {
  id: 'pay_01m7ehqr39e00aq7xw60wbe32j',
  object: 'payment',
  mode: 'test',
  status: 'succeeded',
  external_id: 'order-42',
  metadata: {},
};

export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });

export const refusal = (
  status: number,
  code: string,
  extra: object = {},
  headers: Record<string, string> = {},
) =>
  answer(
    status,
    { error: { code, message: `about ${code}`, request_id: 'req_1', ...extra } },
    { 'x-request-id': 'req_1', ...headers },
  );

export const cut = () => {
  throw new TypeError('fetch failed');
};

type Step = () => Response | never;

/** A client with a scripted service, whose last step repeats, and a clock that moves only by sleeping. */
export function scripted(script: Step[], options: Partial<KopeckOptions> = {}) {
  const requests: {
    url: string;
    method: string;
    headers: Record<string, string>;
    body: string | undefined;
  }[] = [];
  const pauses: number[] = [];
  let nowMs = Date.parse('2026-11-15T10:00:00Z');
  const fetch: Fetch = async (url, { method, headers, body }) => {
    requests.push({ url, method, headers: { ...headers }, body });
    return script[Math.min(requests.length, script.length) - 1]!();
  };
  const kopeck = new Kopeck({
    apiKey: 'svc_test_abc_secret',
    baseUrl: 'https://pay.example/base',
    fetch,
    now: () => nowMs,
    sleep: async ms => {
      pauses.push(ms);
      nowMs += ms;
    },
    ...options,
  });
  return { kopeck, requests, pauses };
}

export async function collect<One>(all: AsyncIterable<One>): Promise<One[]> {
  const found: One[] = [];
  for await (const one of all) found.push(one);
  return found;
}

/** A random source with a fixed value. */
export const chance = (value: number) => vi.spyOn(Math, 'random').mockReturnValue(value);

/** `verified`, or why not. */
export const codeOf = (verification: Promise<unknown>) =>
  verification.then(
    () => 'verified',
    error => (error instanceof SignatureError ? error.code : `${error}`),
  );
