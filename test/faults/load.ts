import { setTimeout as sleep } from 'node:timers/promises';
import { look, newOrder, pay, readBalance } from './calls.ts';
import type { Call, Order } from './history.ts';
import type { Program } from './program.ts';
import { note, type Round, tell } from './round.ts';
import { until } from './wait.ts';

export interface Load {
  /** Whom the partners call from now on. */
  call(...services: Program[]): void;
  /** Resolves when a payment that was begun from now on has succeeded. */
  succeedsAgain(withinMs?: number): Promise<void>;
}

const callers = 8;
/** Partners think a little between two payments, and longer after a refusal. */
const thinkMs = 25;
const pauseAfterRefusalMs = 300;
/** A partner who hangs up earlier than it should is a fault too. */
const hangUpAfterMs = 20_000;
/** Far more than the first pauses between two looks at an unfinished payment. */
const settleWithinMs = 40_000;

/** Partners who pay, repeat, look and read their balance at random until told to stop. */
export function startLoad(round: Round): Load & { stop(): Promise<void> } {
  const { random } = round;
  let services: Program[] = [];
  let stopped = false;

  async function payOnce(): Promise<void> {
    const order = newOrder(round);
    await chooseOutcome(round, order);
    const calls = await Promise.all(
      // Now and then a partner's own retry comes while the first is still under way, perhaps elsewhere.
      Array.from({ length: random.chance(0.15) ? 2 : 1 }, () =>
        pay(round, random.pick(services), order, hangUpAfterMs),
      ),
    );
    const id = calls.map(idIn).find(found => found !== undefined);
    if (id && random.chance(0.3)) await look(round, random.pick(services), order, id);
    if (random.chance(0.1)) await readBalance(round, random.pick(services), order.partner);
    const isRefused = calls.some(({ result }) => result.kind !== 'ok');
    await sleep(isRefused ? pauseAfterRefusalMs : random.between(1, thinkMs));
    if (isRefused && random.chance(0.5)) await pay(round, random.pick(services), order, hangUpAfterMs);
  }

  const running = Promise.all(
    Array.from({ length: callers }, async () => {
      while (!stopped) {
        if (services.length > 0) await payOnce();
        else await sleep(thinkMs);
      }
    }),
  );
  return {
    call: (...next) => {
      services = next;
    },
    succeedsAgain: async (withinMs = 30_000) => {
      const sinceMs = performance.now();
      const isNewSuccess = ({ what, startedMs, result }: Call) =>
        what === 'pay' && startedMs > sinceMs && result.kind === 'ok';
      await until('a payment succeeds', withinMs, () => round.calls.some(isNewSuccess));
    },
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

const idIn = ({ result }: Call) => ('payment' in result ? result.payment?.id : undefined);

/** Most succeed at once; some are declined, and some are accepted first and end a moment later. */
async function chooseOutcome(round: Round, { qrcId }: Order): Promise<void> {
  const fault = { on: 'pay', qrc_id: qrcId, times: 1 };
  const chosen = round.random.between(1, 15);
  if (chosen === 1) await tell(round.world, 'PUT', '/sim/faults', { ...fault, kind: 'decline' });
  if (chosen !== 2) return;
  const outcome = round.random.pick(['succeeded', 'declined']);
  await tell(round.world, 'PUT', '/sim/faults', { ...fault, kind: 'finish_later', ms: 300, outcome });
}

/** Repeats whatever is not known to have ended, with the same key, until it has. */
export async function settle(round: Round, services: Program[]): Promise<void> {
  const open = new Map<string, Order>();
  for (const { what, order, result } of round.calls.toSorted((a, b) => a.startedMs - b.startedMs)) {
    if (what === 'pay' && result.kind === 'unknown') open.set(order!.key, order!);
  }
  for (const { what, order, result } of round.calls) {
    if (what === 'pay' && result.kind === 'ok') open.delete(order!.key);
  }
  const untilMs = performance.now() + settleWithinMs;
  await Promise.all(
    Array.from(open.values(), async order => {
      for (;;) {
        const { result, startedMs, endedMs } = await pay(
          round,
          round.random.pick(services),
          order,
          hangUpAfterMs,
        );
        note(round, 'answer after the faults', endedMs - startedMs);
        if (result.kind === 'ok' || (result.kind === 'failed' && !isTemporary(result))) return;
        if (performance.now() > untilMs) {
          round.findings.push(`the payment with key ${order.key} has not ended: ${JSON.stringify(result)}`);
          return;
        }
        await sleep(pauseAfterRefusalMs);
      }
    }),
  );
}

const isTemporary = ({ status, code }: { status: number; code: string }) =>
  status >= 429 || code === 'qr_unresolvable';
