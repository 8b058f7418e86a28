type Work = () => unknown;

const due: Work[] = [];

/** Done when the test file is over, whether it was asked for by the file itself or by one of its tests. */
export const afterFile = (work: Work) => due.push(work);

/** Latest first, as what was opened last leans on what was there before; one that fails keeps no other from it. */
export async function endFile(): Promise<void> {
  const failures: unknown[] = [];
  for (const work of due.splice(0).reverse()) {
    try {
      await work();
    } catch (failure) {
      failures.push(failure);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'what a test file had opened was not put away');
}
