import { type BatcherOptions, createBatcher as createRealBatcher } from '../../src/db/batch.ts';
import { isArmed } from './crash-point.process.ts';

export { BatcherFullError, nextLoopTurn } from '../../src/db/batch.ts';

/**
 * Replaces the batcher while crash points are set. A statement that is held at a crash point would block every payment
 * behind it in the batch, so each payment gets its own statement.
 */
export function createBatcher<Item, Answer>(options: BatcherOptions<Item, Answer>) {
  const batched = createRealBatcher(options);
  const unbatched = async (item: Item) => (await options.run([item], 'long'))[0]!;
  return (item: Item): Promise<Answer> => (isArmed() ? unbatched(item) : batched(item));
}
