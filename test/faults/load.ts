import { setTimeout as sleep } from 'node:timers/promises';
import { getPayment, newOrder, pay, readBalance } from './calls.ts';
import type { Call, Order } from './history.ts';
import { type Program, until } from './programs.ts';
import { callBank, note, type Round } from './round.ts';

const callers = 8;
/** Partners pause between two payments, and longer after a refusal. */
const pauseMs = 25;
const pauseAfterRefusalMs = 300;
/** A partner that disconnects too early is a fault too. */
const hangUpAfterMs = 20_000;
/** Far more than the first intervals between two polls of an unfinished payment. */
const endWithinMs = 120_000;

/** Partners that pay, repeat, read payments and balances at random until stopped. */
export function startLoad(round: Round) {
  const { random } = round;
  let services: Program[] = [];
  let stopped = false;

  async function payOnce(): Promise<void> {
    const order = newOrder(round);
    await chooseOutcome(round, order);
    const calls = await Promise.all(
      // Sometimes a retry arrives while the first request is still under way, perhaps at another service.
      Array.from({ length: random.chance(0.15) ? 2 : 1 }, () =>
        pay(round, random.pick(services), order, hangUpAfterMs),
      ),
    );
    const id = calls.map(idIn).find(found => found !== undefined);
    if (id && random.chance(0.3)) await getPayment(round, random.pick(services), order, id);
    if (random.chance(0.1)) await readBalance(round, random.pick(services), order.partner);
    const isRefused = calls.some(({ result }) => result.kind !== 'ok');
    await sleep(isRefused ? pauseAfterRefusalMs : random.between(1, pauseMs));
    if (isRefused && random.chance(0.5)) await pay(round, random.pick(services), order, hangUpAfterMs);
  }

  const running = Promise.all(
    Array.from({ length: callers }, async () => {
      while (!stopped) {
        if (services.length > 0) await payOnce();
        else await sleep(pauseMs);
      }
    }),
  );
  return {
    /** Sets the services that the partners call from now on. */
    call: (...next: Program[]) => {
      services = next;
    },
    /** Resolves when so many payments that started after this call have succeeded. */
    succeeds: async (count = 1) => {
      const sinceMs = performance.now();
      const isNewSuccess = ({ what, startedMs, result }: Call) =>
        what === 'pay' && startedMs > sinceMs && result.kind === 'ok';
      await until('payments succeed', () => round.calls.filter(isNewSuccess).length >= count);
    },
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

export type Load = ReturnType<typeof startLoad>;

const idIn = ({ result }: Call) => ('payment' in result ? result.payment?.id : undefined);

/** Most succeed at once; some are declined, and some are accepted first and end a moment later. */
async function chooseOutcome(round: Round, { qrcId }: Order): Promise<void> {
  const fault = { on: 'pay', qrc_id: qrcId, times: 1 };
  const chosen = round.random.between(1, 15);
  if (chosen === 1) await callBank(round.world, 'PUT', '/sim/faults', { ...fault, kind: 'decline' });
  if (chosen !== 2) return;
  const outcome = round.random.pick(['succeeded', 'declined']);
  await callBank(round.world, 'PUT', '/sim/faults', { ...fault, kind: 'finish_later', ms: 300, outcome });
}

/** Repeats every payment without a known end, with the same key, until it has ended. */
export async function repeatUntilEnded(round: Round, services: Program[]): Promise<void> {
  const open = new Map<string, Order>();
  for (const { what, order, result } of round.calls.toSorted((a, b) => a.startedMs - b.startedMs)) {
    if (what === 'pay' && result.kind === 'unknown') open.set(order!.key, order!);
  }
  for (const { what, order, result } of round.calls) {
    if (what === 'pay' && result.kind === 'ok') open.delete(order!.key);
  }
  const untilMs = performance.now() + endWithinMs;
  const waiting = open.values();
  const repeatNext = async () => {
    for (const order of waiting) {
      for (;;) {
        const service = round.random.pick(services);
        const { result, startedMs, endedMs } = await pay(round, service, order, hangUpAfterMs);
        note(round, 'answer after the faults', endedMs - startedMs);
        if (result.kind === 'ok' || (result.kind === 'failed' && !isTemporary(result))) break;
        if (performance.now() > untilMs) {
          round.findings.push(`the payment with key ${order.key} has not ended: ${JSON.stringify(result)}`);
          break;
        }
        await sleep(pauseAfterRefusalMs);
      }
    }
  };
  await Promise.all(Array.from({ length: 2 * callers }, repeatNext));
}

const isTemporary = ({ status, code }: { status: number; code: string }) =>
  status >= 429 || code === 'qr_unresolvable';
