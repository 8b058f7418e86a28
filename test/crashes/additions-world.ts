import { afterAll } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { startSimulator } from '../../src/runtime/simulator.ts';
import type { Service } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { reachedIn, untilFinal } from './crash.ts';
import { type Attempt, createWorld, newAttempt, until, type World } from './world.ts';

/** A world of its own for what comes on top of payments: quotes, refunds, further endpoints. */
export async function startAdditionsWorld(): Promise<World> {
  const folder = newFolder();
  const { pool, url } = await createDatabase();
  const bank = await startSimulator(folder, () => {});
  const world = await createWorld({ pool, url, bank, folder });
  afterAll(async () => {
    await world.close();
    await bank.close();
  });
  return world;
}

export const untilHeld = (isHeldIn: Service) =>
  until(
    () => reachedIn(isHeldIn).size > 0,
    60_000,
    () => 'nothing has reached its crash point',
  );

/** A live payment that has succeeded. */
export async function paidAt(
  world: World,
  service: Service,
): Promise<{ attempt: Attempt; paymentId: Id<'pay'> }> {
  const attempt = await newAttempt(world, 'success');
  const late = await untilFinal(world, service, [attempt], 60_000);
  if (late.length > 0) throw new Error(late.join());
  return { attempt, paymentId: attempt.answers.at(-1)!.id! };
}
