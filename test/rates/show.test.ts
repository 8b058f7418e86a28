import { expect, test } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { parseRateSources } from '../../src/base/rate-sources.ts';
import { createRateSources } from '../../src/rates/index.ts';
import { refreshRate } from '../../src/rates/refresh.ts';
import { kopeck } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { folderWithKey } from '../helpers/folders.ts';

const { pool, url } = await createDatabase();
const dataDir = folderWithKey();
const show = (env: Record<string, string>, ...args: string[]) =>
  kopeck({ DATABASE_URL: url, DATA_DIR: dataDir, ...env }, 'rate', 'show', ...args);

const refreshAt = (nowMs: number) =>
  refreshRate({
    db: pool,
    clock: { ...clock, nowMs: () => nowMs },
    sources: createRateSources(parseRateSources('fixed:92.50, http://127.0.0.1:1/feed'), { clock }).map(
      source => (source.isSetByOperator ? { ...source, fetch: fixedAt(nowMs) } : source),
    ),
    spreadBps: 100,
    maxAgeSec: 300,
    bounds: { minE4: 400_000n, maxE4: 4_000_000n },
    reportAlarms: () => {},
  });
const fixedAt = (asOfMs: number) => async () => ({ midE4: 925_000n, asOfMs });

test('without a rate it is refused with one line', async () => {
  expect(await show({})).toEqual({
    code: 1,
    stdout: '',
    stderr: 'There is no rate yet: bin/kopeck start fetches one from RATE_SOURCES.\n',
  });
});

test('shows the rate, its age and the quote of each source', async () => {
  const { rateId } = (await refreshAt(clock.nowMs() - 20_000))!;
  const { code, stdout } = await show({}, '--json');
  expect(code).toBe(0);
  const shown = JSON.parse(stdout);
  expect(shown).toEqual({
    ...{ rate_id: Number(rateId), pair: 'USDT/RUB', rate: '91.5750', mid: '92.5000', spread_bps: 100 },
    ...{ as_of: expect.any(Number), age_sec: expect.any(Number), max_age_sec: 300, stale: false },
    sources: [
      { source: 'fixed:92.5000', outcome: 'used', mid: '92.5000', as_of: shown.as_of },
      { source: 'http://127.0.0.1:1/feed', outcome: 'failed', reason: 'connect ECONNREFUSED 127.0.0.1:1' },
    ],
  });
  expect(shown.age_sec).toBeGreaterThanOrEqual(20);
  expect(shown.age_sec).toBeLessThan(60);

  const people = (await show({})).stdout;
  expect(people).toMatch(/^rate +91\.5750 RUB for 1 USDT\nmid rate +92\.5000\nspread +100 bps\n/);
  expect(people).toMatch(/^state +fresh$/m);
  expect(people).toMatch(/^fixed:92\.5000 +used +92\.5000 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
  expect(people).toMatch(/^http:\/\/127\.0\.0\.1:1\/feed +failed +connect ECONNREFUSED/m);
});

test('shows when it is stale', async () => {
  await refreshAt(clock.nowMs() - 20_000);
  expect((await show({ RATE_MAX_AGE_SEC: '10' })).stdout).toMatch(/^state +stale: older than 10 s$/m);
});
