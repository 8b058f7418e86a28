import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { standardHeaders } from '../../src/webhooks/delivery/signatures.ts';
import { canRun, webhookCases } from '../guides/snippet-files.ts';
import { createPartnerWithKeys, newLink, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { drivers } from './language-drivers.ts';
import { root } from './packed.ts';

const { pool } = await createDatabase();
await setRate(pool);
const { address } = await startApi({ pool });

/** Not the blocking way: the service is in this process. */
const run = promisify(execFile);

/** The first example of a README, as a reader would run it. */
const firstExample = (folder: string, language: string) =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(
    readFileSync(join(root, folder, 'README.md'), 'utf8'),
  )![1]!;

describe.for(drivers)('the library for $language', driver => {
  const { language, folder, unitTests, program, runCode, exampleOf } = driver;
  const cwd = join(root, folder);

  describe.runIf(canRun(language, 'LIBRARIES'))('of partners', () => {
    test('passes its own tests', async () => {
      const { stdout, stderr } = await run(program, unitTests, { cwd });
      // Unittest reports on the one stream, our own program on the other.
      expect(stdout + stderr).toMatch(/OK|^ok client/m);
    });

    test('does with the service what it says', async () => {
      const { testKey } = await createPartnerWithKeys(pool);
      const env = {
        ...process.env,
        KOPECK_KEY: testKey,
        KOPECK_URL: address,
        LINKS: JSON.stringify({
          paid: newLink(10_000),
          lost: newLink(10_000),
          refusedTwice: newLink(10_000),
          declined: newLink(10_001),
          changed: newLink(10_003),
        }),
        DAY: new Date().toISOString().slice(0, 10),
      };
      const { stdout } = await run(program, runCode(driver.code), { cwd, env });
      const found = JSON.parse(stdout);
      expect(found).toEqual({
        ping: 'test',
        balance: '10000.000000',
        rate: '92.5000',
        quote: '1.081082',
        resolved: '100.00',
        paid: ['succeeded', { cart: [1, 'два'] }],
        again: true,
        lost: 'succeeded',
        refusedTwice: 'succeeded',
        declined: ['failed', 'gateway_declined'],
        listed: ['refused-twice', 'lost', 'paid'],
        failed: ['declined'],
        events: [1, 'payment.succeeded'],
        statement: true,
        deposit: '250.000000',
        clock: true,
        errors: {
          unauthorized: ['AuthenticationE', 401, false, true],
          not_found: ['NotFoundE', 404, false, expect.any(Boolean)],
          malformed_request: ['InvalidRequestE', 422, false, true],
          qr_changed: ['PaymentRefusedE', 409, expect.any(Boolean), expect.any(Boolean)],
        },
      });
    });

    test('tells webhooks of the service from others', async () => {
      const cases = webhookCases();
      const atSec = Math.floor(Date.now() / 1_000);
      const [{ body }] = cases as [(typeof cases)[number]];
      const secret = `whsec_${Buffer.from('a secret of the endpoint').toString('base64')}`;
      const standard = { headers: standardHeaders([secret], { id: 'evt_1', atSec, body }), body, secret };
      const env = { ...process.env, CASES: JSON.stringify(cases), STANDARD: JSON.stringify(standard) };
      const { stdout } = await run(program, runCode(driver.verifier), { cwd, env });
      expect(JSON.parse(stdout)).toEqual([...cases.map(({ isGood }) => isGood), true]);
    });

    test('has the fields of the API in its types', async () => {
      const { stdout } = await run(program, runCode(driver.types), { cwd });
      const document = (await (await fetch(`${address}/openapi.json`)).json()) as ApiDocument;
      const found: Record<string, string[]> = JSON.parse(stdout);
      expect(Object.keys(found).length).toBeGreaterThan(0);
      for (const [name, fields] of Object.entries(found))
        expect([name, fields.sort()]).toEqual([name, fieldsOf(document, name).sort()]);
    });

    test('runs the first example of its README', async () => {
      const { testKey } = await createPartnerWithKeys(pool);
      const env = { ...process.env, KOPECK_KEY: testKey, KOPECK_URL: address };
      const { stdout } = await run(program, runCode(exampleOf(firstExample(folder, language))), { cwd, env });
      // The kopecks of its amount.
      expect(stdout).toMatch(/^(paid|declined: \w+|not known yet)/);
    });
  });
});

interface Schema {
  $ref?: string;
  properties?: Record<string, unknown>;
}
interface ApiDocument {
  components: { schemas: Record<string, Schema> };
  paths: Record<
    string,
    Record<string, { responses?: Record<string, { content?: Record<string, { schema: Schema }> }> }>
  >;
}

/** Where the API describes what a type of the libraries stands for. */
const places: Record<string, [method: string, path: string]> = {
  Ping: ['get', '/v1/ping'],
  Balance: ['get', '/v1/balance'],
  Rate: ['get', '/v1/rate'],
  Quote: ['post', '/v1/quote'],
  ResolvedQr: ['post', '/v1/qr/resolve'],
  PaymentPage: ['get', '/v1/payments'],
  EventPage: ['get', '/v1/events'],
  Statement: ['get', '/v1/statement'],
  TestClock: ['get', '/v1/test/clock'],
  TestDeposit: ['post', '/v1/test/deposits'],
};

function fieldsOf({ components, paths }: ApiDocument, name: string): string[] {
  const place = places[name];
  const schema = place
    ? paths[place[1]]![place[0]]!.responses!['200']!.content!['application/json']!.schema
    : components.schemas[name]!;
  const found = schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)!]! : schema;
  return Object.keys(found.properties!);
}
