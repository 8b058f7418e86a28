type CleanUp = () => unknown;

const cleanUps: CleanUp[] = [];

/** Runs the clean-up at the end of the test file, also when one of its tests registers it. */
export const afterFile = (cleanUp: CleanUp) => cleanUps.push(cleanUp);

/** Runs the clean-ups, latest first, since later resources depend on earlier ones. A failed one does not stop the rest. */
export async function endFile(): Promise<void> {
  const failures: unknown[] = [];
  for (const cleanUp of cleanUps.splice(0).reverse()) {
    try {
      await cleanUp();
    } catch (failure) {
      failures.push(failure);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'the clean-up of a test file failed');
}
