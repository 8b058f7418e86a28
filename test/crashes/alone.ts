import { type BatcherOptions, createBatcher as createRealBatcher } from '../../src/db/batch.ts';
import { isAnybodyToBeHeld } from './crash-point.process.ts';

export { BatcherFullError, nextLoopTurn } from '../../src/db/batch.ts';

/**
 * Stands in for the batcher where there is a crash point. One statement that is held there would hold up everybody who
 * comes after it; so that each payment reaches the point by itself, each has a statement of its own then.
 */
export function createBatcher<Item, Answer>(options: BatcherOptions<Item, Answer>) {
  const together = createRealBatcher(options);
  const alone = async (item: Item) => (await options.run([item]))[0]!;
  return (item: Item): Promise<Answer> => (isAnybodyToBeHeld() ? alone(item) : together(item));
}
