import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { verifyLedger } from '../../src/ledger/index.ts';
import { type Answer, createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { sendRequest } from '../helpers/raw-http.ts';

const { pool } = await createDatabase();
await setRate(pool);
const { address } = await startApi({ pool });
const { testKey } = await createPartnerWithKeys(pool);
const partner = partnerAt(address, testKey);
afterAll(async () => {
  expect((await verifyLedger(pool)).findings).toEqual([]);
});

/** Counts of payments and entries and the money spent: every payment changes them, and nothing else does. */
async function state() {
  const { rows } = await pool.query(
    'SELECT (SELECT count(*)::int FROM payments) AS payments, (SELECT count(*)::int FROM entries) AS entries, ' +
      '(SELECT count(*)::int FROM open_payments) AS open, (SELECT sum(held + settled)::text FROM accounts) AS spent',
  );
  return rows[0];
}

let last = await state();

/** Expects a documented answer (`partnerAt` validates it), never a 5xx, and no change unless it is a payment. */
async function expectHarmless(call: () => Promise<Answer>) {
  const before = last;
  const answer = await call();
  expect(answer.status, answer.text).toBeLessThan(500);
  const after = await state();
  last = after;
  if (answer.status === 200 && answer.json.object === 'payment') {
    expect(after.payments).toBe(before.payments + 1);
  } else {
    expect(after).toEqual(before);
  }
  return answer;
}

let count = 0;
const posts = fc.constantFrom('/v1/payments', '/v1/quote', '/v1/qr/resolve');
const post = (path: string, raw: string | Uint8Array<ArrayBuffer>) =>
  partner.post(path, { raw, headers: { 'idempotency-key': `fuzz ${++count}` } });

const unusual = fc.constantFrom(
  ...['\0', '\ud800', '\udfff\ud800', '__proto__', 'constructor', '\u2028', '🙂'.repeat(130)],
  ...['x'.repeat(2_000), 'NaN', '1e2', '-0', '%00', '../../', "'; --"],
);
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), unusual);
const anyJson = fc.oneof(
  fc.json({ stringUnit: 'binary', maxDepth: 5 }),
  fc.jsonValue().map(value => JSON.stringify(value)),
);

test('random JSON and random bytes do no harm', async () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 }).map(each => new Uint8Array(each));
  await fc.assert(
    fc.asyncProperty(posts, fc.oneof(anyJson, bytes), async (path, raw) => {
      expect((await expectHarmless(() => post(path, raw))).status).toBe(422);
    }),
    { numRuns: 100 },
  );
});

const value = fc.oneof(
  text,
  fc.double(),
  fc.integer(),
  fc.bigInt().map(String),
  fc.constantFrom(null, true, false),
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
);
const oneOf = (...parts: [weight: number, arbitrary: fc.Arbitrary<unknown>][]) =>
  fc.oneof(...parts.map(([weight, arbitrary]) => ({ weight, arbitrary })));
const nearlyLink = oneOf(
  [3, fc.constantFrom(10_000, 10_001, 10_003, 999, undefined).map(kopecks => newLink(kopecks))],
  [1, fc.tuple(fc.constant(newLink(10_000)), text).map(([link, tail]) => `${link}${tail}`)],
  [1, value],
);
const nearlyAmount = oneOf(
  [2, fc.constantFrom('100', 100, '100.00', undefined, null)],
  [1, fc.double({ min: 0, max: 200_000, noNaN: true })],
  [1, fc.integer({ min: 1, max: 20_000_000 }).map(kopecks => (kopecks / 100).toFixed(2))],
  [1, value],
);
const someMetadata = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
const nearlyPayment = fc.record(
  {
    qr_url: nearlyLink,
    amount_rub: nearlyAmount,
    external_id: oneOf([2, fc.constantFrom('order', null)], [1, value]),
    metadata: oneOf([2, someMetadata], [1, value]),
  },
  { requiredKeys: [] },
);

test('nearly valid payments do no harm, and those that are paid come back as they were sent', async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(nearlyPayment, async fields => {
      const body = JSON.stringify(fields);
      const answer = await expectHarmless(() => post('/v1/payments', body));
      const outcome = answer.json.detail ? 'malformed' : (answer.json.status ?? answer.json.error.code);
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      if (answer.status !== 200) return;
      const sent = JSON.parse(body);
      expect(answer.json.external_id).toBe(sent.external_id ?? null);
      expect(JSON.stringify(answer.json.metadata)).toBe(JSON.stringify(sent.metadata ?? {}));
    }),
    { numRuns: 150 },
  );
  // The test is useless if everything is refused at the first check.
  for (const outcome of ['malformed', 'succeeded', 'amount_mismatch', 'invalid_qr'])
    expect(seen.get(outcome), JSON.stringify([...seen])).toBeGreaterThan(0);
});

test('a valid payment cut or changed anywhere does no harm', async () => {
  const more = { amount_rub: '100.00', external_id: 'é', metadata: { a: [1, '🙂'] } };
  const valid = () => Buffer.from(JSON.stringify({ qr_url: newLink(10_000), ...more }));
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(255), fc.boolean(), async (at, byte, cut) => {
      const bytes = valid();
      const place = at % bytes.length;
      if (cut)
        return void (await expectHarmless(() =>
          post('/v1/payments', new Uint8Array(bytes.subarray(0, place || 1))),
        ));
      bytes[place] = byte;
      await expectHarmless(() => post('/v1/payments', new Uint8Array(bytes)));
    }),
    { numRuns: 80 },
  );
});

test('random addresses, parameters and headers do no harm', async () => {
  const parameter = fc.tuple(fc.constantFrom('limit', 'starting_after', 'status', 'other'), text);
  await fc.assert(
    fc.asyncProperty(fc.array(parameter, { maxLength: 4 }), text, async (parameters, id) => {
      const wellFormed = (part: string) => encodeURIComponent(part.toWellFormed());
      const query = parameters.map(([name, part]) => `${name}=${wellFormed(part)}`).join('&');
      const listed = await expectHarmless(() => partner.get(`/v1/payments?${query}`));
      expect([200, 404, 422]).toContain(listed.status);
      const got = await expectHarmless(() => partner.get(`/v1/payments/x${wellFormed(id)}`));
      expect(got.status).toBe(404);
    }),
    { numRuns: 30 },
  );
  const headerText = fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter(code => code !== 0x7f)
      .map(code => String.fromCharCode(code)),
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(headerText, headerText, headerText, async (key, type, authorization) => {
      const headers = { 'idempotency-key': key, 'content-type': type, authorization: `Bearer ${testKey}` };
      const body = JSON.stringify({ qr_url: 'nonsense' });
      const refused = await sendRequest(address, { method: 'POST', path: '/v1/payments', headers, body });
      expect(refused.status).toBe(400);
      const unauthenticated = await sendRequest(address, { path: '/v1/ping', headers: { authorization } });
      expect(unauthenticated.status).toBe(401);
      expect(await state()).toEqual(last);
    }),
    { numRuns: 30 },
  );
});
