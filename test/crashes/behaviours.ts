import type { Mode } from '../../src/ledger/index.ts';

/** How a payment goes: faults of the bank side for its code, or in test mode the kopecks that choose its outcome. */
interface Behaviour {
  mode: Mode;
  /** Added to a whole number of rubles. */
  kopecks: number;
  faults: object[];
}

const live = (...faults: object[]): Behaviour => ({
  mode: 'live',
  kopecks: 0,
  faults: faults.map(fault => ({ on: 'pay', ...fault })),
});
const test = (kopecks: number): Behaviour => ({ mode: 'test', kopecks, faults: [] });

/** Longer than it takes until another process takes over a payment whose process was killed. */
export const veryLateMs = 12_000;

export const behaviours = {
  success: live(),
  decline: live({ kind: 'decline' }),
  'accepted, then success': live({ kind: 'finish_later', ms: 1_000, outcome: 'succeeded' }),
  'accepted, then declined': live({ kind: 'finish_later', ms: 1_000, outcome: 'declined' }),
  'answer lost': live({ kind: 'answer_lost' }),
  'never received': live({ kind: 'drop_before' }),
  slow: live({ kind: 'delay', ms: 1_500 }),
  'status 502': live({ kind: 'http_error', status: 502 }),
  'broken JSON': live({ kind: 'broken_json' }),
  /** Carried out long after it was sent. The second fault is used up when that is done, whatever the outcome. */
  'very late': live({ kind: 'delay', ms: veryLateMs }, { kind: 'answer_lost', times: 1 }),
  /** Its outcome is known only after the second poll. */
  'poll fails once': live({ kind: 'answer_lost' }, { on: 'poll', kind: 'http_error', status: 502, times: 1 }),
  'test ,00': test(0),
  'test ,01': test(1),
  'test ,02': test(2),
} satisfies Record<string, Behaviour>;
export type BehaviourName = keyof typeof behaviours;
