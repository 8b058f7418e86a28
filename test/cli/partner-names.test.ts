import { beforeAll, describe, expect, test } from 'vitest';
import { createCommandLine } from './command-line.ts';

const { partner, run, runJson, expectRefusal } = await createCommandLine();
let twins: string[];
beforeAll(async () => {
  const create = async (name: string) => (await runJson('partner', 'create', '--name', name)).partner_id;
  twins = [await create('Twins'), await create('twins')];
  await runJson('webhook', 'set', partner, '--url', 'http://127.0.0.1:9/hook');
});

/** Every command that takes a partner, those that only read and those that change something. */
const reads = [
  'partner show NAME',
  'partner limits NAME',
  'key list NAME',
  'ledger statement NAME --mode live --day 2026-11-15',
  'webhook show NAME',
  'webhook log NAME',
  'request list --partner NAME',
];
const changes = [
  'partner suspend NAME',
  'partner resume NAME',
  'partner approve NAME',
  'partner invite NAME',
  'partner limits NAME --concurrent 7',
  'key create NAME --mode test',
  'balance credit NAME --mode live --usdt 5 --reference by-name',
  'webhook set NAME --url http://127.0.0.1:9/hook',
  'webhook rotate NAME',
  'webhook check NAME',
];
const call = (line: string, name: string) => line.split(' ').map(word => (word === 'NAME' ? name : word));

describe('a partner is found by its name by', () => {
  test.each(reads)('%s', async line => {
    const { code, stderr } = await run(...call(line, 'КОФЕЙНЯ'), '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test.each([reads[0]!, changes[0]!])('%s, by the whole one, and unless several have it', async line => {
    const several = `^Several partners have the name TWINS: use the ID of one, ${twins.join(' or ')}\\.\\n$`;
    await expectRefusal(1, new RegExp(several), ...call(line, 'TWINS'));
    await expectRefusal(
      1,
      /^There is no partner Кофе: see bin\/kopeck partner list\.\n$/,
      ...call(line, 'Кофе'),
    );
  });
});

describe('a name, which the partner chose, does not suffice for', () => {
  const needsId = `^Names are chosen by partners, so a change needs the ID\\. Кофейня is ${partner}: use that`;
  test.each(changes)('%s', line => expectRefusal(1, new RegExp(needsId), ...call(line, 'КОФЕЙНЯ')));

  test('anybody: nothing was credited', async () => {
    const { balances } = await runJson('partner', 'show', partner);
    expect(balances.live.balance_usdt).toBe('0.000000');
  });
});
