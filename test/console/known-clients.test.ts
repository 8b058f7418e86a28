import { describe, expect, test } from 'vitest';
import { hashOfToken } from '../../src/base/token.ts';
import { disableOperator, enableOperator, resetOperator } from '../../src/operators/index.ts';
import { answers } from '../helpers/console.ts';
import { type EnrolledOperator, enrolOperator } from '../helpers/operators.ts';
import { keyring } from '../helpers/partners.ts';
import { startSignIn } from './sign-in-world.ts';

const dayMs = 86_400_000;
const { pool, sql, clock, audit, visit, enrolled, newName, from, wait, auditOf } = await startSignIn();
type Browser = ReturnType<typeof visit>;

const wrong = (name: string, address: string, browser = visit()) =>
  browser.post('/login', { name, password: 'x', code: '000000' }, from(address));

/** Signs in with the right password and the next code. */
function right({ name, password, code }: EnrolledOperator, address: string, browser = visit()) {
  wait();
  return browser.post('/login', { name, password, code: code() }, from(address));
}

let attackers = 0;
/** Fifty wrong sign-ins from 13 addresses: two attempts, and 48 rows like the one that the first leaves. */
async function attack(name: string): Promise<void> {
  const network = `10.${++attackers}`;
  await answers(401, wrong(name, `${network}.0.0`));
  await pool.query(
    `INSERT INTO login_attempts (at, name_hash, address)
     SELECT at, name_hash, $1 || '.0.' || tries % 13 FROM login_attempts, generate_series(1, 48) AS tries
      WHERE address = $1 || '.0.0'`,
    [network],
  );
  await answers(401, wrong(name, `${network}.1.1`));
  await answers(429, wrong(name, `${network}.1.2`));
}

/** An operator, and the browser with which they have signed in. */
async function knownOperator(address: string): Promise<{ operator: EnrolledOperator; browser: Browser }> {
  const operator = await enrolled();
  const browser = visit();
  await answers(200, right(operator, address, browser));
  return { operator, browser };
}

describe('while an attacker uses up the limit of a name', () => {
  test('the operator signs in with the known browser from a new address, after signing out too', async () => {
    const { operator, browser } = await knownOperator('203.0.113.1');
    await browser.post('/logout');
    await attack(operator.name);
    await answers(200, right(operator, '198.18.0.1', browser));
    await answers(200, right(operator, '198.18.0.2', browser));
  });

  test('the operator signs in from a known address with a new browser', async () => {
    const { operator } = await knownOperator('2001:db8:7:7::1');
    await attack(operator.name);
    await answers(200, right(operator, '2001:db8:7:7::2'));
  });

  test('an unknown browser at an unknown address is refused', async () => {
    const { operator } = await knownOperator('203.0.113.3');
    await attack(operator.name);
    await answers('429 throttled', right(operator, '198.18.0.3'));
  });

  test('a forged device, and the device of another operator, gain nothing', async () => {
    const { operator, browser } = await knownOperator('203.0.113.4');
    const other = await knownOperator('203.0.113.5');
    await attack(operator.name);
    const [token] = browser.device!.split('.');
    const forger = visit();
    for (const device of [`${token}.${'A'.repeat(43)}`, `${browser.device}.x`, other.browser.device]) {
      forger.device = device;
      await answers(429, right(operator, '198.18.0.4', forger));
    }
  });

  test('an address shows nothing about names: known and unknown ones get the same answers', async () => {
    const { operator } = await knownOperator('203.0.113.6');
    const unknown = newName();
    for (const name of [operator.name, unknown]) await attack(name);
    for (const expected of [401, 401, 401, 401, 401, 429])
      for (const name of [operator.name, unknown])
        expect((await wrong(name, '203.0.113.6')).status).toBe(expected);
  });
});

describe('a known device', () => {
  test('is lost after ten wrong attempts, also concurrent ones, and then counts as unknown', async () => {
    const { operator, browser } = await knownOperator('203.0.113.10');
    await attack(operator.name);
    const given = await Promise.all(
      Array.from({ length: 14 }, (_, index) => wrong(operator.name, `198.18.1.${index}`, browser)),
    );
    expect(given.filter(({ status }) => status === 401)).toHaveLength(10);
    await answers(429, right(operator, '198.18.1.200', browser));
    expect(await auditOf(operator.name)).toContainEqual({
      actor: 'console',
      action: 'session.throttled',
      after: { address: expect.stringMatching(/^198\.18\.1\./), limits: ['device'] },
    });
    clock.advance(15 * 60_000);
    await attack(operator.name);
    await answers(429, right(operator, '198.18.1.201', browser));
  });

  test('has its allowance again after a success, and its failures count for nobody else', async () => {
    const { operator, browser } = await knownOperator('203.0.113.11');
    for (let tries = 0; tries < 9; tries++) await answers(401, wrong(operator.name, '198.18.2.1', browser));
    await answers(401, wrong(operator.name, '198.18.2.1'));
    await answers(200, right(operator, '198.18.2.2', browser));
    for (let tries = 0; tries < 2; tries++) await answers(401, wrong(operator.name, '198.18.2.1', browser));
    await answers(200, right(operator, '198.18.2.2', browser));
  });

  test.each(['reset', 'disabled and enabled'])(
    'is forgotten with the addresses when the operator is %s',
    async how => {
      const { operator, browser } = await knownOperator('203.0.113.12');
      const { operatorId, name } = operator;
      if (how === 'reset') await resetOperator(audit, keyring, operatorId, { allowLastAdmin: false });
      else for (const change of [disableOperator, enableOperator]) await change(audit, operatorId);
      const known =
        await sql`SELECT FROM known_clients k JOIN operators o ON o.id = k.operator_id WHERE o.name = ${name}`;
      expect(known).toEqual([]);
      await attack(operator.name);
      await answers(429, wrong(operator.name, '203.0.113.12', browser));
    },
  );

  test('is forgotten 90 days after its last sign-in, and beyond the twenty newest', async () => {
    const operator = await enrolOperator(pool, clock, newName(), 'viewer');
    const first = visit();
    await answers(200, right(operator, '198.19.0.1', first));
    const known = async (kind: string) =>
      (
        await sql`SELECT value FROM known_clients k JOIN operators o ON o.id = k.operator_id
                   WHERE o.name = ${operator.name} AND kind = ${kind} ORDER BY last_sign_in_at`
      ).map(({ value }) => value);
    await sql`INSERT INTO known_clients (operator_id, kind, value, last_sign_in_at)
       SELECT operator_id, kind, CASE kind WHEN 'device' THEN 'hash ' ELSE '198.19.0.' END || n,
              last_sign_in_at + n * interval '1 millisecond'
         FROM known_clients, generate_series(2, 21) AS n WHERE value = '198.19.0.1' OR value = ${hashOfToken(first.device!.split('=')[1]!).toString('hex')}`;
    await answers(200, right(operator, '198.19.0.22'));
    expect(await known('device')).toHaveLength(20);
    expect(await known('address')).toEqual(Array.from({ length: 20 }, (_, index) => `198.19.0.${index + 3}`));

    clock.advance(90 * dayMs);
    await attack(operator.name);
    await answers(429, right(operator, '198.19.0.22'));
    clock.advance(15 * 60_000);
    await answers(200, right(operator, '198.19.0.99'));
    expect(await known('address')).toEqual(['198.19.0.99']);
  });
});
