type Work = () => unknown;

const due: Work[] = [];

/** Done when the test file is over, whether it was asked for by the file itself or by one of its tests. */
export const afterFile = (work: Work) => due.push(work);

/** Latest first, as what was opened last leans on what was there before. */
export async function endFile(): Promise<void> {
  for (const work of due.splice(0).reverse()) await work();
}
