import { beforeAll, describe, expect, test } from 'vitest';
import { createCommandLine } from './command-line.ts';

const { partner, run, runJson, expectRefusal } = await createCommandLine();
let twins: string[];
beforeAll(async () => {
  const create = async (name: string) => (await runJson('partner', 'create', '--name', name)).partner_id;
  twins = [await create('Twins'), await create('twins')];
});

/** Every command that takes a partner. */
const commands: [string, ...string[]][] = [
  ['partner show NAME'],
  ['partner suspend NAME'],
  ['partner resume NAME'],
  ['partner approve NAME'],
  ['partner invite NAME'],
  ['partner limits NAME --concurrent 7'],
  ['key create NAME --mode test'],
  ['key list NAME'],
  ['balance credit NAME --mode live --usdt 5 --reference by-name'],
  ['ledger statement NAME --mode live --day 2026-11-15'],
  ['webhook set NAME --url http://127.0.0.1:9/hook'],
  ['webhook show NAME'],
  ['webhook rotate NAME'],
  ['webhook log NAME'],
  ['request list --partner NAME'],
];
const call = (line: string, name: string) => line.split(' ').map(word => (word === 'NAME' ? name : word));

describe('a partner is found by its name by', () => {
  test.each(commands)('%s', async line => {
    const { code, stderr } = await run(...call(line, 'КОФЕЙНЯ'), '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test.each(commands)('%s, unless several have it', line =>
    expectRefusal(
      1,
      new RegExp(`^Several partners have the name TWINS: use the ID of one, ${twins.join(' or ')}\\.\\n$`),
      ...call(line, 'TWINS'),
    ),
  );

  test.each(commands)('%s, and only by the whole one', line =>
    expectRefusal(1, /^There is no partner Кофе: see kopeck partner list\.\n$/, ...call(line, 'Кофе')),
  );
});

test('the money goes to the partner with the name', async () => {
  const { balances } = await runJson('partner', 'show', partner);
  expect(balances.live.balance_usdt).toBe('5.000000');
  for (const twin of twins)
    expect((await runJson('partner', 'show', twin)).balances.live.balance_usdt).toBe('0.000000');
});

test('webhook check finds a partner by its name', async () => {
  const { stdout } = await run('webhook', 'check', 'кофейня', '--json');
  expect(JSON.parse(stdout).partner_id).toBe(partner);
});
