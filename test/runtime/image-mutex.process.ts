/** A worker process that acquires and releases the lock on request, and says so. */
import { joinCluster } from '../../src/runtime/cluster-channel.ts';

const { acquireImageLock } = joinCluster(message => process.send!(message));
let release: (() => void) | undefined;
process.on('message', async message => {
  if (message === 'release') release?.();
  if (message === 'are you there') process.send!('is there');
  if (message !== 'acquire') return;
  const acquiring = acquireImageLock();
  process.send!('asked');
  release = await acquiring;
  process.send!('has it');
});
