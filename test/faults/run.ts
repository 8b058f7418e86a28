import type { Random } from '../helpers/random.ts';
import { checkBooks } from './check-books.ts';
import { checkHistory } from './check-history.ts';
import { type Load, settle, startLoad } from './load.ts';
import type { Program } from './program.ts';
import { note, type Round, tell } from './round.ts';
import type { World } from './world.ts';

/** Breaks something while partners pay; returns the services that are left to answer. */
export type Nemesis = (round: Round, load: Load) => Promise<Program[]>;

const partnerCount = 4;

/** Runs a nemesis under load; then faults stop, whatever is open is asked about until it has ended, and all is checked. */
export async function runRound(
  world: World,
  random: Random,
  nemesis: Nemesis,
  { databaseIsWhole = false, onRound }: { databaseIsWhole?: boolean; onRound?: (round: Round) => void } = {},
): Promise<Round> {
  const partners = await Promise.all(Array.from({ length: partnerCount }, () => world.createPartner()));
  const round: Round = {
    world,
    random,
    partners,
    calls: [],
    findings: [],
    faults: new Map(),
    longest: new Map(),
    databaseIsWhole,
    startedAt: new Date(),
    atTheEnd: [],
  };
  onRound?.(round);
  const load = startLoad(round);
  try {
    const services = await nemesis(round, load).finally(load.stop);
    const faultsEndedMs = performance.now();
    await settle(round, services);
    note(round, 'until all had ended', performance.now() - faultsEndedMs);
    checkHistory(round);
    await checkBooks(round, services[0]!);
  } catch (error) {
    round.findings.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    for (const work of round.atTheEnd) await work();
    await tell(world, 'DELETE', '/sim/faults');
    round.findings.push(...(await world.endServices(round.findings.length > 0 ? 'all' : 'own')));
  }
  return round;
}
