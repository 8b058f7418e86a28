import type { Random } from '../helpers/random.ts';
import { checkBooks } from './check-books.ts';
import { checkHistory } from './check-history.ts';
import { type Load, repeatUntilEnded, startLoad } from './load.ts';
import type { Program } from './programs.ts';
import { callBank, newRound, note, type Round, type RoundOptions } from './round.ts';
import type { World } from './world.ts';

/**
 * Injects one kind of fault while partners pay; returns the services that still run. The word is Jepsen's: the part of
 * a test that breaks the system.
 */
export type Nemesis = (round: Round, load: Load) => Promise<Program[]>;

const partnerCount = 4;

/** Runs a nemesis under load; then faults stop, open payments are repeated until they have ended, and all is checked. */
export async function runRound(
  world: World,
  random: Random,
  nemesis: Nemesis,
  { onRound, ...options }: RoundOptions & { onRound?: (round: Round) => void } = {},
): Promise<Round> {
  const partners = await Promise.all(Array.from({ length: partnerCount }, () => world.createPartner()));
  const round = newRound(world, random, partners, options);
  onRound?.(round);
  const load = startLoad(round);
  try {
    const services = await nemesis(round, load).finally(load.stop);
    const faultsEndedMs = performance.now();
    await repeatUntilEnded(round, services);
    note(round, 'until all had ended', performance.now() - faultsEndedMs);
    checkHistory(round);
    await checkBooks(round, services[0]!);
  } catch (error) {
    round.findings.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    for (const work of round.atTheEnd) await work();
    await callBank(world, 'DELETE', '/sim/faults');
    round.findings.push(...(await world.endServices(round.findings.length > 0 ? 'all' : 'own')));
  }
  return round;
}
