import { expect, onTestFinished, test } from 'vitest';
import { startNodeCheck } from '../../src/deposits/index.ts';
import { createChain, startNode } from '../helpers/chain.ts';
import { startService } from '../helpers/cli.ts';
import { createDatabase, secretKey, setRate } from '../helpers/database.ts';
import { startDrippingServer } from '../helpers/dripping-server.ts';
import { newFolder } from '../helpers/folders.ts';
import { follow } from '../helpers/locks.ts';
import { chainSettings, xpub } from './world.ts';

test('the node of another network, or another token, is refused at the start', async () => {
  const chain = createChain();
  const check = (url: string) => startNodeCheck(chainSettings({ DEPOSIT_ETHEREUM_RPC: url }).depositChains);
  const whyRefused = async (url: string) => {
    const { verdict, refuseIfKnownWrong } = check(url);
    const wrong = await verdict;
    if (wrong) expect(refuseIfKnownWrong).toThrow(wrong);
    else refuseIfKnownWrong();
    return wrong?.message;
  };
  const other = (await startNode(chain, { chainId: 5 })).url;
  expect(await whyRefused((await startNode(chain)).url)).toBeUndefined();
  expect(await whyRefused(other)).toMatch(
    /^DEPOSIT_ETHEREUM_RPC cannot be used: the ethereum node 1 is of another network \(5, not 1\)/,
  );
  expect(await whyRefused((await startNode(chain, { decimals: 18 })).url)).toContain('says 18 decimals');
  // It may be back later: the service starts, and the watcher raises an alarm.
  expect(await whyRefused('http://127.0.0.1:1')).toBeUndefined();
  expect(await whyRefused(`http://127.0.0.1:1,${other}`)).toContain(
    'the ethereum node 2 is of another network',
  );
  // One that drips hides no other one, and holds nothing up.
  const slow = await startDrippingServer('body');
  expect(await whyRefused(`${slow.url},${other}`)).toContain('the ethereum node 2 is of another network');
  check(slow.url).refuseIfKnownWrong();
});

test('the service is ready while a node drips', async () => {
  const { pool, url } = await createDatabase();
  await setRate(pool);
  /** Whether it was ready before the first call to the node had reached its limit. */
  async function isReadyFirst(): Promise<boolean> {
    const slow = await startDrippingServer('body');
    const hungUp = follow(slow.hungUp);
    const service = await startService({
      ...{ DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder(), ROLES: 'api,worker' },
      ...{ GATEWAY_URL: 'http://127.0.0.1:1', RATE_SOURCES: 'fixed:92.50' },
      ...{ DEPOSIT_CHAINS: 'ethereum', DEPOSIT_ETHEREUM_RPC: slow.url, DEPOSIT_ETHEREUM_XPUB: xpub },
    });
    const isFirst = !hungUp.hasEnded;
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    await slow.dripping;
    const readiness = async () => (await fetch(`${service.address}/readyz`)).status;
    await expect.poll(readiness).toBe(200);
    return isFirst;
  }
  // A busy machine may need more than one start that takes less than the limit; a start that waits never does.
  while (!(await isReadyFirst()));
});
