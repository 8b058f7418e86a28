import pg from 'pg';
import type { Statement } from '../../src/db/pool.ts';
import type { Random } from '../helpers/random.ts';
import { countFault } from './chain-faults.ts';
import type { World } from './world.ts';

const message = 'canceling statement due to lock timeout';

/** An account is locked for longer than a credit waits. */
export const isLockTimeout = (error: unknown) => error instanceof Error && error.message.includes(message);

/** Accounts that somebody else locks: a credit to one of them fails, as when its lock timeout is over. */
export function createAccountLocks(world: World, random: Random, uuids: string[]) {
  const { scheduler, trace } = world;
  const lockedUntil = new Map<string, number>();
  const isLocked = (uuid: string) => (lockedUntil.get(uuid) ?? 0) > scheduler.nowMs();

  return {
    isLocked,
    lockOne: () => {
      const uuid = random.pick(uuids);
      lockedUntil.set(uuid, scheduler.nowMs() + random.between(1_000, 120_000));
      trace.add('database', `the account of partner ${uuids.indexOf(uuid) + 1} is locked`);
    },
    stop: () => lockedUntil.clear(),
    refuse: ({ text, values }: Statement): Error | undefined => {
      if (!text.includes('ledger_post') || !(values![0] as string[]).some(isLocked)) return undefined;
      countFault(world, 'account locked');
      return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code: '55P03' });
    },
  };
}
