import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../helpers/random.ts';
import { createProxy, type Pair } from './proxy.ts';

/** How the proxy treats the answers of the bank side. */
type Condition =
  | 'fine'
  /** Every connection is cut at once. */
  | 'gone'
  /** Some answers break off, some never arrive, some arrive whole. */
  | 'unreliable'
  /** The head of an answer arrives at once, its body one byte at a time. */
  | 'dripping';

const dripEveryMs = 400;

/** A proxy between the service and the bank side. */
export async function createGatewayProxy(target: string, random: Random) {
  let weather: Condition = 'fine';
  const proxy = await createProxy(Number(new URL(target).port), pair => {
    if (weather === 'gone') return pair.cut();
    pair.caller.on('data', chunk => {
      if (weather === 'unreliable' && random.chance(0.1)) pair.cut();
      else pair.target.write(chunk);
    });
    pair.target.on('data', chunk => {
      if (weather === 'unreliable') sendUnreliably(pair, chunk, random);
      else if (weather === 'dripping') void drip(pair, chunk);
      else pair.caller.write(chunk);
    });
    return undefined;
  });
  return {
    ...proxy,
    url: `http://127.0.0.1:${proxy.port}`,
    setCondition: (next: Condition) => {
      weather = next;
      // Connections that stall, or follow the old condition, must not remain.
      proxy.cutAll();
    },
  };
}

function sendUnreliably({ caller, cut }: Pair, chunk: Buffer, random: Random) {
  const half = chunk.subarray(0, chunk.length >> 1);
  switch (random.pick(['whole', 'whole', 'whole', 'reset', 'end', 'nothing'])) {
    case 'whole':
      return void caller.write(chunk);
    case 'reset':
      return void caller.write(half, cut);
    case 'end':
      return void caller.end(half);
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
