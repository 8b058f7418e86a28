import { type BehaviourName, behaviours } from './behaviours.ts';

/** One place to die, and the behaviours of the bank side that lead there; with the others it is over by then. */
export interface Cell {
  point: string;
  /** Where the process dies that looks after what the first one left behind. */
  second?: string;
  reachedBy: BehaviourName[];
}

const rare: BehaviourName[] = ['very late', 'poll fails once'];
export const everybody = (Object.keys(behaviours) as BehaviourName[]).filter(name => !rare.includes(name));
const live = everybody.filter(name => behaviours[name].mode === 'live');
/** Those that the bank side gives no final answer about at first. */
const unclear = live.filter(name => !['success', 'decline', 'slow'].includes(name));
/** Those that the bank side never has an order for. */
const neverPlaced: BehaviourName[] = ['never received', 'status 502'];

/**
 * Those of one list die in one process, each payment at its own point. A claim is held for all who are due, so it has a
 * process to itself.
 */
export const killed: Cell[][] = [
  [
    { point: 'before resolve', reachedBy: live },
    { point: 'after resolve', reachedBy: live },
    { point: 'before open', reachedBy: everybody },
    { point: 'after open', reachedBy: everybody },
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
    { point: 'before finish', reachedBy: everybody },
    { point: 'after finish', reachedBy: everybody },
  ],
  [
    { point: 'before answer', reachedBy: everybody },
    { point: 'after answer', reachedBy: everybody },
  ],
  [{ point: 'before claim', reachedBy: [...unclear, 'test ,02'] }],
  [{ point: 'after claim', reachedBy: [...unclear, 'test ,02'] }],
];

/** Not more in one list than a recovering process looks at at once, which is 50. */
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
    { point: 'before finish', second: 'before finish', reachedBy: everybody },
    { point: 'before finish', second: 'after finish', reachedBy: everybody },
  ],
  [{ point: 'after pay', second: 'after releaseLeases', reachedBy: [] }],
  [{ point: 'before schedule next poll', second: 'after claim', reachedBy: unclear }],
];

/** Where a process stops moving and is taken for dead; when another one has done its work, it goes on. */
export const frozen: Cell[][] = [
  [
    { point: 'before open', reachedBy: everybody },
    { point: 'after open', reachedBy: everybody },
    { point: 'before pay', reachedBy: live },
    { point: 'after pay', reachedBy: live },
    { point: 'before schedule next poll', reachedBy: unclear },
    { point: 'after poll', reachedBy: unclear },
    { point: 'before void', reachedBy: neverPlaced },
    { point: 'before finish', reachedBy: everybody },
  ],
];
