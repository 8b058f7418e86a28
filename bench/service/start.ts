import { newFolder } from './cleanup.ts';
import type { Context } from './context.ts';
import type { Figure } from './figures.ts';
import { startService } from './start-service.ts';

const times = 3;

/** Time from the start to the ready line, in a folder that was used before. */
export async function startSection({ progress }: Context): Promise<Figure[]> {
  const folder = newFolder('start');
  const seconds: number[] = [];
  try {
    progress('Starting in a new folder …');
    await (await startService(folder.dir)).stop();
    for (let nth = 1; nth <= times; nth++) {
      progress(`Starting in a warm folder, ${nth} of ${times} …`);
      const startedAt = performance.now();
      const service = await startService(folder.dir);
      seconds.push((performance.now() - startedAt) / 1_000);
      await service.stop();
    }
  } finally {
    await folder.remove();
  }
  const median = seconds.toSorted((a, b) => a - b)[times >> 1]!;
  return [
    {
      what: 'start to ready, warm folder',
      measured: `${median.toFixed(2)} s (median of ${times})`,
      bar: { name: 'seconds from start to ready', value: median, limit: 3, rule: '<' },
      values: { seconds },
    },
  ];
}
