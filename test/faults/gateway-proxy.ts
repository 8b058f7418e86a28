import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../helpers/random.ts';
import { createProxy, type Pair, type TcpProxy } from './proxy.ts';

/** What becomes of the bank side's answers. */
export type Weather =
  | 'fine'
  /** Whoever connects is cut off at once. */
  | 'gone'
  /** Some answers break off, some never come, some arrive whole. */
  | 'rough'
  /** The head of an answer comes at once, and its body a byte at a time, without an end in sight. */
  | 'dripping';

export interface GatewayProxy extends TcpProxy {
  url: string;
  setWeather(weather: Weather): void;
}

const dripEveryMs = 400;

/** Between the service and the bank side. */
export async function createGatewayProxy(target: string, random: Random): Promise<GatewayProxy> {
  let weather: Weather = 'fine';
  const proxy = await createProxy(Number(new URL(target).port), pair => {
    if (weather === 'gone') return pair.cut();
    pair.caller.on('data', chunk => {
      if (weather === 'rough' && random.chance(0.1)) pair.cut();
      else pair.target.write(chunk);
    });
    pair.target.on('data', chunk => {
      if (weather === 'rough') sendRoughly(pair, chunk, random);
      else if (weather === 'dripping') void drip(pair, chunk);
      else pair.caller.write(chunk);
    });
    return undefined;
  });
  return {
    ...proxy,
    url: `http://127.0.0.1:${proxy.port}`,
    setWeather: next => {
      weather = next;
      // What was stalled, or would go on in the old way, is over.
      proxy.cutAll();
    },
  };
}

function sendRoughly({ caller, cut }: Pair, chunk: Buffer, random: Random): void {
  const half = chunk.subarray(0, chunk.length >> 1);
  switch (random.pick(['whole', 'whole', 'whole', 'reset', 'end', 'nothing'])) {
    case 'whole':
      caller.write(chunk);
      return;
    case 'reset':
      caller.write(half, cut);
      return;
    case 'end':
      caller.end(half);
      return;
  }
}

async function drip({ caller }: Pair, chunk: Buffer): Promise<void> {
  const bodyAt = chunk.indexOf('\r\n\r\n') + 4;
  caller.write(chunk.subarray(0, bodyAt));
  for (const byte of chunk.subarray(bodyAt)) {
    await sleep(dripEveryMs);
    if (caller.destroyed) return;
    caller.write(Buffer.of(byte));
  }
}
