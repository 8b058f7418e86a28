/** One attacker in a process of its own, so that its work does not delay the measurement. It ends with its parent. */
import { attacks } from './attacks.ts';
import type { Target } from './world.ts';

const stopping = new AbortController();
process.once('message', async ({ name, target }: { name: string; target: Target }) => {
  process.once('message', () => stopping.abort());
  const requests = await attacks[name]!(target, stopping.signal);
  process.send!(requests, () => process.exit(0));
});
process.once('disconnect', () => process.exit(0));
