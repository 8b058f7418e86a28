import type { Random } from '../helpers/random.ts';
import type { Numbering } from './chain.ts';
import type { World } from './world.ts';

/** What happened in a run with a chain, beyond normal operation. */
export const chainFaults = [
  ...['failed', 'dripped', 'throttled', 'unreadable', 'behind', 'lied', 'renumbered', 'doubled'],
  ...['too large', 'too large for one account', 'replaced', 'replaced below final', 'rewound'],
  ...['account locked', 'credited beside a locked account', 'smallest amount lowered', 'held as late'],
  ...['left unread', 'worth nothing', 'below the smallest amount', 'more than a billion'],
] as const;
export type ChainFault = (typeof chainFaults)[number];

export function countFault({ counts: { chainFaults } }: World, fault: ChainFault): void {
  chainFaults[fault] = (chainFaults[fault] ?? 0) + 1;
}

/** Is on or off for many calls in a row. */
function createPhase(random: Random, { begins, ends }: { begins: number; ends: number }): () => boolean {
  let isOn = false;
  return () => {
    isOn = random.chance(isOn ? 1 - ends : begins);
    return isOn;
  };
}

const never = () => false;

/**
 * What nodes do wrong, each as the probability for one call unless it says otherwise. Most of them are off in a run, so that each is
 * met alone and with others.
 */
export function drawBehaviour(random: Random, hasTwoNodes: boolean) {
  const numbering = [0, 1].map(() => random.pick(['block', 'transaction', 'either', 'either'] as const));
  const maxLogs = [0, 1].map(() => random.pick([4, 8, Number.POSITIVE_INFINITY]));
  const isGenerous = createPhase(random, { begins: 0.1, ends: 0.1 });
  const sometimes = (phase: () => boolean) => (random.chance(0.4) ? phase : never);
  return {
    // One node that lies would be believed: with one, it does not. Of two, what the first one says is booked.
    liar: hasTwoNodes && random.chance(0.6) ? random.pick([0, 0, 1]) : undefined,
    lying: random.pick([0.02, 0.1, 0.3]),
    /** One that lies about everything contradicts itself in most rounds, and is seldom believed. */
    liesAboutBlocks: random.chance(0.5),
    failing: random.pick([0, 0.01, 0.05]),
    /** The whole deadline passes, and then the call fails. */
    dripping: random.pick([0, 0, 0.02, 0.1]),
    /** An answer of a chain some blocks ago. */
    behind: random.pick([0, 0.1, 0.3]),
    /** Nothing, or something of another type. */
    unreadable: random.pick([0, 0, 0.05]),
    /** These two for many calls in a row. */
    isThrottling: sometimes(createPhase(random, { begins: 0.05, ends: 0.3 })),
    isDoubling: sometimes(createPhase(random, { begins: 0.1, ends: 0.1 })),
    /** How a node counts logs in this answer, by its place, and how many it gives. */
    numberingOf: (nth: number): Numbering => {
      const own = numbering[nth]!;
      return own === 'either' ? random.pick(['block', 'transaction']) : own;
    },
    maxLogsOf: (nth: number) => (isGenerous() ? Number.POSITIVE_INFINITY : maxLogs[nth]!),
  };
}
export type NodeBehaviour = ReturnType<typeof drawBehaviour>;

/** Nodes still count logs as they like. Their limits stay, or are gone: a node was replaced. */
export function stopNodeFaults(behaviour: NodeBehaviour, maxLogs: number[]): void {
  const off = { liar: undefined, lying: 0, failing: 0, dripping: 0, behind: 0, unreadable: 0 };
  const maxLogsOf = (nth: number) => maxLogs[nth]!;
  Object.assign(behaviour, off, { isThrottling: never, isDoubling: never, maxLogsOf });
}
