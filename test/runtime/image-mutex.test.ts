import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isMessage, type Message } from '../../src/runtime/cluster-channel.ts';
import { createClusterMutex } from '../../src/runtime/cluster-mutex.ts';

/** Three processes, and what they say in the order in which it arrives. */
function startWorkers() {
  const said: string[] = [];
  const handleLock = createClusterMutex();
  const start = (name: string) => {
    const child = fork(join(import.meta.dirname, 'image-mutex.process.ts'), { execArgv: [] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const asWorker = {
      isConnected: () => child.connected,
      once: (event: 'disconnect', listener: () => void) => child.once(event, listener),
      send: (message: Message, callback: () => void) => child.send(message, callback),
    };
    child.on('message', message => {
      if (isMessage(message) && message.kopeck === 'image_lock') void handleLock(asWorker, message);
      if (typeof message === 'string') said.push(`${name} ${message}`);
    });
    return child;
  };
  return { said, one: start('one'), two: start('two'), three: start('three') };
}

const until = async (child: ChildProcess, text: string) => {
  for await (const [message] of on(child, 'message')) if (message === text) return;
};
/** What it does has happened when the process says it. */
const tell = async (child: ChildProcess, order: string, answer: string) => {
  const answered = until(child, answer);
  child.send(order);
  await answered;
};

test('one process of the machine has the lock, until it releases it', async () => {
  const { said, one, two } = startWorkers();
  await tell(one, 'acquire', 'has it');
  await tell(two, 'acquire', 'asked');
  const next = until(two, 'has it');
  // Messages arrive in order, and a lock may be handed over after the first of these: by the second one it would have it.
  for (let round = 1; round <= 2; round++) await tell(two, 'are you there', 'is there');
  expect(said).toEqual(['one asked', 'one has it', 'two asked', 'two is there', 'two is there']);
  one.send('release');
  await next;
  await tell(one, 'acquire', 'asked');
  const last = until(one, 'has it');
  two.send('release');
  await last;
});

test('a process that dies releases the lock, and one that died while it waited does not hold it', async () => {
  const { one, two, three } = startWorkers();
  await tell(one, 'acquire', 'has it');
  await tell(two, 'acquire', 'asked');
  await tell(three, 'acquire', 'asked');
  const next = until(three, 'has it');
  two.kill('SIGKILL');
  await once(two, 'exit');
  one.kill('SIGKILL');
  await next;
});
