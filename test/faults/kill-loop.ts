import { setTimeout as sleep } from 'node:timers/promises';
import { callBank, count } from './round.ts';
import type { Nemesis } from './run.ts';

/** What the bank side does with orders while one service runs. */
const weathers: (object | undefined)[] = [
  undefined,
  { kind: 'decline' },
  { kind: 'delay', ms: 1_500 },
  { kind: 'finish_later', ms: 1_000, outcome: 'succeeded' },
  { kind: 'answer_lost' },
  { kind: 'drop_before' },
  { kind: 'http_error', status: 502 },
  { kind: 'broken_json' },
];
const longestLifeMs = 3_000;

/** So many services, one after the other, are killed with `kill -9` at a random moment under load; no other one runs. */
export const killAgainAndAgain =
  (times: number): Nemesis =>
  async (round, load) => {
    const { world, random } = round;
    round.findings.push(...(await world.endServices('all')));
    for (let kills = 0; kills < times; kills++) {
      const service = await world.startService();
      const weather = random.pick(weathers);
      if (weather) await callBank(world, 'PUT', '/sim/faults', { id: 'weather', on: 'pay', ...weather });
      load.call(service);
      await sleep(random.between(0, longestLifeMs));
      await service.stop('SIGKILL');
      load.call();
      count(round, 'service killed');
      await callBank(world, 'DELETE', '/sim/faults');
    }
    const last = await world.startService();
    load.call(last);
    await load.succeeds();
    return [last];
  };
