/**
 * A process fails before or after every statement and every call of the gateway, with each behaviour of the bank side:
 * it dies, another one dies while it recovers, or it stands still until it is presumed dead. All rules of the simulation
 * hold, and every point is really reached.
 */
import { describe, expect, test } from 'vitest';
import { startRuns } from './fixture.ts';
import type { Script } from './world.ts';

const { run, verify } = await startRuns();

type Behaviour = Omit<Script, 'points' | 'fate'>;
const live = (faults: Script['faults'] = {}, more: Partial<Script> = {}): Behaviour => ({
  ...{ mode: 'live', kopecks: 2_000 },
  faults: { acceptedLater: 0, declined: 0, noticed: 1, ...faults },
  ...more,
});
const inTestMode = (kopecks: number): Behaviour => ({ mode: 'test', kopecks: 2_000 + kopecks, faults: {} });

const behaviours = {
  success: live(),
  decline: live({ declined: 1 }),
  slow: live({}, { payTakesMs: 1_500 }),
  'accepted, then success': live({ acceptedLater: 1 }),
  'accepted, then declined': live({ acceptedLater: 1, declined: 1 }),
  'answer lost': live({ answerLost: 1 }),
  'never received': live({ messageLost: 1, noticed: 0 }),
  'status 502': live({ messageLost: 1 }),
  'broken JSON': live({ answerUnreadable: 1 }),
  /** Carried out when another process has taken over. */
  'very late': live({}, { payTakesMs: 12_000 }),
  /** Its outcome is known only after the second poll. */
  'poll fails once': live({ answerLost: 1 }, { losesFirstPoll: true }),
  'test ,00': inTestMode(0),
  'test ,01': inTestMode(1),
  'test ,02': inTestMode(2),
};
type Name = keyof typeof behaviours;

const ended: Name[] = ['success', 'decline', 'slow'];
/** The bank side never has an order. */
const neverPlaced: Name[] = ['never received', 'status 502'];
/** The bank side gives no final answer at first. */
const unclear: Name[] = [
  ...(['accepted, then success', 'accepted, then declined', 'answer lost', 'broken JSON'] as const),
  ...neverPlaced,
];
const all: Name[] = [...ended, ...unclear];
/** Others end in the transaction that opens them. */
const endsLater: Name[] = [...all, 'test ,02'];
const common: Name[] = [...endsLater, 'test ,00', 'test ,01'];
const due: Name[] = [...unclear, 'test ,02'];

const open = 'payments_open';
const finish = 'payments_finish';
const claim = 'claim due payments';
const later = 'schedule next poll';
const both = (step: string) => [`before ${step}`, `after ${step}`];

type Cells = [points: string[], names: Name[]][];
const ofEach = (points: string[], names: Name[]): Cells => points.map(point => [[point], names]);

const killed: Cells = [
  ...ofEach([...both('resolve'), ...both('pay')], all),
  ...ofEach(['during pay'], [...all, 'very late']),
  ...ofEach([...both(open), ...both('answer')], common),
  ...ofEach([...both(later), ...both('poll')], unclear),
  ...ofEach(both('void'), neverPlaced),
  ...ofEach(both(finish), endsLater),
  ...ofEach(both(claim), due),
];

const killedTwice: Cells = [
  [['after pay', 'before poll'], all],
  [['after pay', 'after poll'], all],
  [['after pay', 'after release leases of the dead'], all],
  [['after pay', `before ${later}`], ['poll fails once']],
  [['after pay', `after ${later}`], ['poll fails once']],
  [[`after ${open}`, 'before void'], all],
  [[`after ${open}`, 'after void'], all],
  [[`before ${finish}`, `before ${finish}`], endsLater],
  [[`before ${finish}`, `after ${finish}`], endsLater],
  [[`before ${later}`, `after ${claim}`], unclear],
];

const presumedDead: Cells = [
  ...ofEach(both(open), common),
  ...ofEach(both('pay'), all),
  ...ofEach([`before ${later}`, 'after poll'], unclear),
  ...ofEach(['before void'], neverPlaced),
  ...ofEach([`before ${finish}`], endsLater),
];

type Row = [points: string[], name: Name, seed: number];
const rowsOf = (cells: Cells): Row[] =>
  cells
    .flatMap(([points, names]) => names.map(name => [points, name] as const))
    .map((row, nth) => [...row, nth]);

async function check(seed: number, script: Script): Promise<void> {
  const { reached, alarms } = await run(seed, { script });
  expect(reached).toEqual(script.points);
  expect(alarms).toEqual([]);
}

const kinds: [title: string, Cells, Script['fate']][] = [
  ['killed', killed, 'dies'],
  ['killed, and again while recovering from it', killedTwice, 'dies'],
  ['presumed dead, and back when another process has finished its payments', presumedDead, 'stands still'],
];
describe.each(kinds)('%s', (_title, cells, fate) => {
  test.for(rowsOf(cells))('%s: %s', ([points, name, seed]) =>
    check(seed, { ...behaviours[name], points, fate }),
  );
});

const sending = 'during send to further/1';
const additions: [beside: NonNullable<Script['beside']>, points: string[][]][] = [
  [
    'quotes',
    ['before resolve', ...both(open), ...both('pay'), `before ${finish}`, 'before answer'].map(point => [
      point,
    ]),
  ],
  ['refunds', [...both('book refund'), 'before store refund position'].map(point => [point])],
  // The endpoint is removed while an event is sent to it. A removal that dies has removed nothing.
  ['endpoints', [[sending], ...both('remove deliveries').map(point => [sending, point])]],
];
describe.each(additions)('killed, with %s', (beside, points) => {
  test.for(points.map((each, seed) => [each, seed] as const))('%s', ([points, seed]) =>
    check(seed, { ...behaviours.success, beside, points, fate: 'dies' }),
  );
});

test('the ledger is consistent after all of them', verify);
