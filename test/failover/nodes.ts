import { setTimeout as sleep } from 'node:timers/promises';
import { pay } from '../faults/calls.ts';
import type { Call, Order } from '../faults/history.ts';
import type { Load } from '../faults/load.ts';
import { answersOk, type Program, until } from '../faults/programs.ts';
import { callBank, check, note, type Round } from '../faults/round.ts';
import { freePort } from '../helpers/free-port.ts';
import { followFeeds, receiveWebhooks } from './events.ts';

/** One process and several: they leave a lost history in different ways. */
const processesOf = [1, 2];

/** Two nodes under load, and partners that read their feeds and have webhooks. */
export async function startNodes(round: Round, load: Load): Promise<Program[]> {
  // Each order takes a moment, so that some are under way when the fault begins.
  await callBank(round.world, 'PUT', '/sim/faults', { id: 'slow', on: 'pay', kind: 'delay', ms: 30 });
  await receiveWebhooks(round);
  const nodes: Program[] = [];
  for (const processes of processesOf) nodes.push(await startNode(round, processes));
  followFeeds(round, nodes);
  load.call(...nodes);
  await load.succeeds();
  return nodes;
}

export async function startNode({ world }: Round, processes: number): Promise<Program> {
  return world.startService({ port: await freePort(), processes, logLevel: 'warn' });
}

/** Starts it again where it was, so that partners find it. */
export const restartNode = ({ world }: Round, { address }: Program, processes: number) =>
  world.startService({ port: Number(new URL(address).port), processes, logLevel: 'warn' });

export interface Incarnation {
  number: number;
  isOpen: boolean;
  recovered: number;
}

/** The newest; undefined while there is no answer. */
export const currentIncarnation = ({ world }: Round): Promise<Incarnation | undefined> =>
  world.pool
    .query<Incarnation>(
      `SELECT number, opened_at IS NOT NULL AS "isOpen",
              (SELECT count(*)::int FROM recovered_payments r WHERE r.incarnation = i.number) AS recovered
         FROM incarnations i ORDER BY number DESC LIMIT 1`,
    )
    .then(
      ({ rows }) => rows[0],
      () => undefined,
    );

/** Resolves when this incarnation accepts payments, which takes a while after a loss. */
export async function untilOpen(round: Round, number: number): Promise<Incarnation> {
  let last: Incarnation | undefined;
  await until(`incarnation ${number} is open`, async () => {
    last = await currentIncarnation(round);
    return last?.number === number && last.isOpen;
  });
  return last!;
}

/** All of them have joined. */
export const untilReady = (nodes: Program[]) =>
  Promise.all(nodes.map(({ address }) => until('a node is ready', () => answersOk(`${address}/readyz`))));

/** The payments whose end a partner learned in this time. */
export const answeredBetween = ({ calls }: Round, fromMs: number, untilMs: number): Order[] =>
  calls.flatMap(({ what, order, endedMs, result }) =>
    what === 'pay' && result.kind === 'ok' && endedMs >= fromMs && endedMs <= untilMs ? [order!] : [],
  );

const repeatWithinMs = 240_000;
const repeatPauseMs = 300;

/** Each is sent again with its key, until it is answered. The answers are compared with the first ones at the end of the round. */
export const repeatAll = (round: Round, nodes: Program[], orders: Order[]): Promise<Call[]> =>
  Promise.all(
    orders.map(async order => {
      for (const untilMs = performance.now() + repeatWithinMs; ; ) {
        const call = await pay(round, round.random.pick(nodes), order);
        if (call.result.kind === 'ok' || performance.now() > untilMs) return call;
        await sleep(repeatPauseMs);
      }
    }),
  );

/** The same, and each gets its payment. */
export async function checkRepeats(round: Round, nodes: Program[], orders: Order[]): Promise<void> {
  for (const { order, result } of await repeatAll(round, nodes, orders))
    check(round, result.kind === 'ok', `a repeat of ${order!.key} got ${JSON.stringify(result)}`);
}

/** How long new payments were refused: from the first refusal after `sinceMs` to the first new payment after it. */
export async function noteGap(round: Round, sinceMs: number): Promise<void> {
  const pays = () => round.calls.filter(({ what }) => what === 'pay');
  const refused = pays().filter(({ startedMs, result }) => startedMs >= sinceMs && result.kind !== 'ok');
  check(round, refused.length > 0, 'nothing was refused');
  if (refused.length === 0) return;
  const firstRefusedMs = Math.min(...refused.map(({ startedMs }) => startedMs));
  const isNew = ({ order, startedMs }: Call) =>
    !pays().some(other => other.order!.key === order!.key && other.startedMs < startedMs);
  const isAccepted = (call: Call) =>
    call.startedMs > firstRefusedMs && call.result.kind === 'ok' && isNew(call);
  await until('a new payment is accepted', () => pays().some(isAccepted));
  const acceptedMs = pays()
    .filter(isAccepted)
    .map(({ endedMs }) => endedMs);
  note(round, 'payments refused for', Math.min(...acceptedMs) - firstRefusedMs);
}
