import { type BehaviourName, behaviours } from './behaviours.ts';

/** One crash point, and the behaviours of the bank side that reach it; with the others the payment is over by then. */
export interface Cell {
  point: string;
  /** The crash point of the process that recovers from the first crash. */
  second?: string;
  reachedBy: BehaviourName[];
}

const rare: BehaviourName[] = ['very late', 'poll fails once'];
export const common = (Object.keys(behaviours) as BehaviourName[]).filter(name => !rare.includes(name));
const live = common.filter(name => behaviours[name].mode === 'live');
/** The bank side gives no final answer at first. */
const unclear = live.filter(name => !['success', 'decline', 'slow'].includes(name));
/** Others end in the transaction that opens them. */
const endsLater = common.filter(name => !['test ,00', 'test ,01'].includes(name));
/** The bank side never has an order. */
const neverPlaced: BehaviourName[] = ['never received', 'status 502'];

/**
 * The cells of one list share a process, each payment at its own crash point. A claim is held for all due payments, so
 * it has its own process.
 */
export const killed: Cell[][] = [
  [
    { point: 'before resolve', reachedBy: live },
    { point: 'after resolve', reachedBy: live },
    { point: 'before open', reachedBy: common },
    { point: 'after open', reachedBy: common },
  ],
  [
    { point: 'before pay', reachedBy: live },
    { point: 'during pay', reachedBy: [...live, 'very late'] },
    { point: 'after pay', reachedBy: live },
  ],
  [
    { point: 'before schedule next poll', reachedBy: unclear },
    { point: 'after schedule next poll', reachedBy: unclear },
    { point: 'before poll', reachedBy: unclear },
    { point: 'after poll', reachedBy: unclear },
  ],
  [
    { point: 'before void', reachedBy: neverPlaced },
    { point: 'after void', reachedBy: neverPlaced },
    { point: 'before finish', reachedBy: endsLater },
    { point: 'after finish', reachedBy: endsLater },
  ],
  [
    { point: 'before answer', reachedBy: common },
    { point: 'after answer', reachedBy: common },
  ],
  [{ point: 'before claim', reachedBy: [...unclear, 'test ,02'] }],
  [{ point: 'after claim', reachedBy: [...unclear, 'test ,02'] }],
];

/** At most 50 payments in one list: a recovering process polls that many at once. */
export const killedTwice: Cell[][] = [
  [
    { point: 'after pay', second: 'before poll', reachedBy: live },
    { point: 'after pay', second: 'after poll', reachedBy: live },
    { point: 'after pay', second: 'before schedule next poll', reachedBy: ['poll fails once'] },
    { point: 'after pay', second: 'after schedule next poll', reachedBy: ['poll fails once'] },
  ],
  [
    { point: 'after open', second: 'before void', reachedBy: live },
    { point: 'after open', second: 'after void', reachedBy: live },
    { point: 'before finish', second: 'before finish', reachedBy: endsLater },
    { point: 'before finish', second: 'after finish', reachedBy: endsLater },
  ],
  [{ point: 'after pay', second: 'after releaseLeases', reachedBy: [] }],
  [{ point: 'before schedule next poll', second: 'after claim', reachedBy: unclear }],
];

/** Where a process is frozen and presumed dead; it continues after another one has finished its payments. */
export const frozen: Cell[][] = [
  [
    { point: 'before open', reachedBy: common },
    { point: 'after open', reachedBy: common },
    { point: 'before pay', reachedBy: live },
    { point: 'after pay', reachedBy: live },
    { point: 'before schedule next poll', reachedBy: unclear },
    { point: 'after poll', reachedBy: unclear },
    { point: 'before void', reachedBy: neverPlaced },
    { point: 'before finish', reachedBy: endsLater },
  ],
];
